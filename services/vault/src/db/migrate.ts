import { realpathSync } from 'node:fs'
import { connectionUrl, EnvError, parseEnv } from '@vault-and-tracker/service-kit/env'
import { migrateToLatest } from '@vault-and-tracker/service-kit/postgres'
import { z } from 'zod'
import { grants } from './grants.ts'
import { init } from './migrations/0001-init.ts'
import { sealedPrunings } from './migrations/0002-sealed-prunings.ts'

/** In order; a new one goes to the end and none is ever changed. */
const MIGRATIONS = { '0001-init': init, '0002-sealed-prunings': sealedPrunings }

/**
 * Brings the database to the newest schema and grants the run-time role its rights. Safe to run again and in parallel.
 *
 * @param options `url` connects as the owner of the database; `runtimeRole` exists already
 * @returns the names of the migrations that ran now
 */
export function migrate(options: { url: string; runtimeRole: string }): Promise<readonly string[]> {
  return migrateToLatest({ ...options, migrations: MIGRATIONS, grants })
}

async function main(): Promise<void> {
  const env = parseEnv(
    z.object({
      MIGRATION_DATABASE_URL: connectionUrl('postgres', 'postgresql'),
      RUNTIME_ROLE: z.string().default('vault_app'),
    }),
    process.env,
  )
  const done = await migrate({ url: env.MIGRATION_DATABASE_URL, runtimeRole: env.RUNTIME_ROLE })
  process.stdout.write(done.length === 0 ? 'The schema is up to date.\n' : `Migrated: ${done.join(', ')}\n`)
}

if (realpathSync(process.argv[1] ?? '') === import.meta.filename) {
  main().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : 'unknown error'
    process.stderr.write(error instanceof EnvError ? `${message}\n` : `Could not migrate: ${message}\n`)
    process.exit(1)
  })
}
