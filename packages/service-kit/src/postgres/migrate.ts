import { type Migration, Migrator, sql } from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import { commonEnv, parseEnv } from '../config/env.ts'
import { errorCode, messageOf } from '../core/errors.ts'
import { type Command, defineAction } from '../lifecycle/command.ts'
import { startHint } from '../lifecycle/start-hint.ts'
import { createKysely } from './pool.ts'

/** The database to migrate: `url` connects as its owner, `runtimeRole` is the role of the service. */
export type MigrationTarget = { readonly url: string; readonly runtimeRole: string }

/** Migrates a database to the newest schema. Returns the names of the migrations that ran. */
export type Migrate = (target: MigrationTarget) => Promise<readonly string[]>

/**
 * Creates the function that migrates a service's database and grants the run-time role its permissions. It can run again,
 * and several times at once: the first run takes a lock, and the others then have no work. It fails if the database has
 * migrations of a newer release.
 *
 * @param options `migrations` by name, in alphabetical order and forward only; `grants` are statements that run after every
 *   migration, so that a new table is never forgotten
 */
export function createMigrate(options: {
  migrations: Readonly<Record<string, Migration>>
  grants: (role: string) => readonly string[]
}): Migrate {
  return async ({ url, runtimeRole }) => {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(runtimeRole)) throw new Error('RUNTIME_ROLE must be a plain role name')
    const db = createKysely<unknown>(new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 10_000 }))
    try {
      const migrations = { ...options.migrations }
      const provider = { getMigrations: () => Promise.resolve(migrations) }
      // A migration of one branch may have run before an earlier one of another branch was merged.
      const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true })
      const { error, results } = await migrator.migrateToLatest()
      if (error !== undefined) throw migrationError(error)
      for (const statement of options.grants(runtimeRole)) await sql.raw(statement).execute(db)
      return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName)
    } finally {
      await db.destroy()
    }
  }
}

function migrationError(error: unknown): Error {
  const message = messageOf(error)
  if (message.includes('corrupted migrations'))
    return new Error(
      'the database was migrated by a newer release; deploy that release or restore a backup taken before it',
      { cause: error },
    )
  const remedy = remedyOf(error)
  return new Error(`migration failed: ${message}${remedy === undefined ? '' : `\n${remedy}`}`, { cause: error })
}

function remedyOf(error: unknown): string | undefined {
  if (errorCode(error) === '42501') return 'The role in MIGRATION_DATABASE_URL must own the database.'
  return startHint(error, 'MIGRATION_DATABASE_URL')
}

/** The command `migrate` of a service. It reads MIGRATION_DATABASE_URL and RUNTIME_ROLE, which defaults to `runtimeRole`. */
export function migrateCommand(options: { migrate: Migrate; runtimeRole: string }): Command {
  return {
    name: 'migrate',
    actions: defineAction({
      summary:
        'Migrate the database of MIGRATION_DATABASE_URL to the newest schema and grant RUNTIME_ROLE its permissions',
      inputs: {},
      run: async (_input, { env, stdout }) => {
        const { MIGRATION_DATABASE_URL: url, RUNTIME_ROLE: runtimeRole } = parseEnv(
          z.object({
            MIGRATION_DATABASE_URL: commonEnv.DATABASE_URL,
            RUNTIME_ROLE: z.string().default(options.runtimeRole),
          }),
          env,
        )
        const done = await options.migrate({ url, runtimeRole })
        stdout.write(done.length === 0 ? 'The schema is up to date.\n' : `Migrated: ${done.join(', ')}\n`)
      },
    }),
  }
}
