import { pathToFileURL } from 'node:url'
import { connectionUrl, parseEnv } from '@vault-and-tracker/service-kit/env'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { migrateToLatest } from '@vault-and-tracker/service-kit/postgres'
import { z } from 'zod'
import { migrations } from './migrations/index.ts'

/** The run-time role reads and writes rows; it can neither change tables nor empty them wholesale. */
function grants(role: string): readonly string[] {
  return [
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `revoke insert, update, delete on kysely_migration, kysely_migration_lock from ${role}`,
    `revoke insert, delete on site_settings from ${role}`,
    `revoke update on flush_log from ${role}`,
    `revoke delete on users from ${role}`,
  ]
}

/**
 * Brings the tracker's database to this release's schema and grants the run-time role what it needs.
 *
 * @param options `url` connects as the owner of the database
 * @returns the names of the migrations that ran now
 */
export function migrate(options: { url: string; runtimeRole: string }): Promise<readonly string[]> {
  return migrateToLatest({ ...options, migrations, grants })
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const logger = createLogger({ name: 'tracker-migrate', level: 'info' })
  try {
    const env = parseEnv(
      z.object({
        MIGRATION_DATABASE_URL: connectionUrl('postgres', 'postgresql'),
        RUNTIME_ROLE: z.string().default('tracker_app'),
      }),
      process.env,
    )
    const ran = await migrate({ url: env.MIGRATION_DATABASE_URL, runtimeRole: env.RUNTIME_ROLE })
    logger.info({ migrations: ran }, ran.length === 0 ? 'the database is up to date' : 'the database was migrated')
  } catch (error) {
    logger.fatal({ err: error }, 'the database could not be migrated')
    process.exitCode = 1
  }
}
