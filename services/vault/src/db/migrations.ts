import { createMigrate, type Migrate } from '@vault-and-tracker/service-kit/postgres/migrate'
import { grants } from './grants.ts'
import { init } from './migrations/0001-init.ts'
import { sealedPrunings } from './migrations/0002-sealed-prunings.ts'
import { authenticatedRows } from './migrations/0003-authenticated-rows.ts'
import { nonceMemory } from './migrations/0004-nonce-memory.ts'
import { droppedVersions } from './migrations/0005-dropped-versions.ts'
import { repeatedPrunings } from './migrations/0006-repeated-prunings.ts'
import { tampering } from './migrations/0007-tampering.ts'
import { runTime } from './migrations/0008-run-time.ts'
import { namedKeys } from './migrations/0009-named-keys.ts'
import { secretDetails } from './migrations/0010-secret-details.ts'
import { exchange } from './migrations/0012-exchange.ts'
import { webhooks } from './migrations/0013-webhooks.ts'
import { administratorSessions } from './migrations/0015-administrator-sessions.ts'
import { inheritanceAndReferences } from './migrations/0016-inheritance-and-references.ts'
import { versionActors } from './migrations/0017-version-actors.ts'
import { referenceTargets } from './migrations/0018-reference-targets.ts'
import { endedExchangedKeys } from './migrations/0019-ended-exchanged-keys.ts'

/** All migrations. Add new ones at the end, and never change a released one. */
export const MIGRATIONS = {
  '0001-init': init,
  '0002-sealed-prunings': sealedPrunings,
  '0003-authenticated-rows': authenticatedRows,
  '0004-nonce-memory': nonceMemory,
  '0005-dropped-versions': droppedVersions,
  '0006-repeated-prunings': repeatedPrunings,
  '0007-tampering': tampering,
  '0008-run-time': runTime,
  '0009-named-keys': namedKeys,
  '0010-secret-details': secretDetails,
  '0012-exchange': exchange,
  '0013-webhooks': webhooks,
  '0015-administrator-sessions': administratorSessions,
  '0016-inheritance-and-references': inheritanceAndReferences,
  '0017-version-actors': versionActors,
  '0018-reference-targets': referenceTargets,
  '0019-ended-exchanged-keys': endedExchangedKeys,
}

/** Migrates the vault's database to the newest schema. */
export const migrate: Migrate = createMigrate({ migrations: MIGRATIONS, grants })
