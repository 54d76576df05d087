import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AdministratorTables } from './admin/administrators.tables.ts'
import type { AuditTables } from './audit/audit.tables.ts'
import type { ExchangeTables } from './exchange/exchange.tables.ts'
import type { IntegrityTables } from './integrity/integrity.tables.ts'
import type { KeyringTables } from './keyring/keyring.tables.ts'
import type { ProjectTables } from './projects/projects.tables.ts'
import type { ReferenceTables } from './references/references.tables.ts'
import type { SecretTables } from './secrets/secrets.tables.ts'
import type { SessionTables } from './sign-in/sessions.tables.ts'
import type { WebhookTables } from './webhooks/webhooks.tables.ts'

/** The tables of all features. The migrations create them. */
export type Schema = AdministratorTables &
  AuditTables &
  ExchangeTables &
  IntegrityTables &
  KeyringTables &
  ProjectTables &
  ReferenceTables &
  SecretTables &
  SessionTables &
  WebhookTables

/** A query builder for the vault's tables, or one of its transactions. */
export type Db = Kysely<Schema>

/** Matches any of these ids. Unlike `in`, this accepts an empty list, which matches no row. */
export function anyUuid(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${[...ids]}::uuid[])`
}

const AFTER_COMMIT = new WeakMap<Db, (() => void)[]>()

/** Runs a step once a transaction of `writeTransaction` is committed, and not if it is rolled back. */
export function afterCommit(trx: Db, step: () => void): void {
  AFTER_COMMIT.get(trx)?.push(step)
}

/**
 * Runs a transaction that is rolled back if its client gave up waiting. It keeps its locks until the commit has ended, so
 * later writes of the same client come after it.
 */
export async function writeTransaction<T>(
  db: Db,
  wanted: { assert(): void } | undefined,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  const steps: (() => void)[] = []
  const result = await db.transaction().execute(async (trx) => {
    AFTER_COMMIT.set(trx, steps)
    const done = await work(trx)
    wanted?.assert()
    return done
  })
  for (const step of steps) step()
  return result
}
