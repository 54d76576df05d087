import { type Migration, Migrator, sql } from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import { commonEnv, EnvError, parseEnv, postgresUrl } from '../config/env.ts'
import { errorCode, messageOf } from '../core/errors.ts'
import { type Command, defineAction } from '../lifecycle/command.ts'
import { startHint } from '../lifecycle/start-hint.ts'
import { createKysely } from './pool.ts'
import { type DatabasePlan, provisionDatabase } from './provision.ts'

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

const migrateEnv = z.object({
  MIGRATION_DATABASE_URL: commonEnv.DATABASE_URL,
  // Not secret, but the chart passes all settings of migrations as files.
  RUNTIME_ROLE: z.string().optional().meta({ secret: true }),
  PROVISION_DATABASE_URL: postgresUrl().optional().meta({ secret: true }),
})

/** The command `migrate` of a service. `runtimeRole` is the role of the service if neither a variable nor its URL names it. */
export function migrateCommand(options: { migrate: Migrate; runtimeRole: string }): Command {
  return {
    name: 'migrate',
    actions: defineAction({
      summary: 'Migrate a database to the newest schema and grant the run-time role its permissions',
      inputs: {},
      run: async (_input, { env, stdout }) => {
        const {
          MIGRATION_DATABASE_URL: url,
          RUNTIME_ROLE,
          PROVISION_DATABASE_URL: adminUrl,
        } = parseEnv(migrateEnv, env)
        const plan = adminUrl === undefined ? undefined : await provision(adminUrl, planOf(url, env))
        const runtimeRole = RUNTIME_ROLE ?? plan?.app.name ?? options.runtimeRole
        const done = await options.migrate({ url, runtimeRole })
        stdout.write(done.length === 0 ? 'The schema is up to date.\n' : `Migrated: ${done.join(', ')}\n`)
      },
    }),
    notes: `MIGRATION_DATABASE_URL connects as the owner of the database. RUNTIME_ROLE is the role of the service, by default
${options.runtimeRole}. With PROVISION_DATABASE_URL, the superuser of a server without other users, the database, its owner and the
role in DATABASE_URL are created first, and get the passwords in these URLs.`,
  }
}

/** The database of the URLs that the migrations and the service use. @throws EnvError if they do not fit together */
function planOf(ownerUrl: string, env: Parameters<typeof parseEnv>[1]): DatabasePlan {
  const { DATABASE_URL: appUrl } = parseEnv(z.object({ DATABASE_URL: commonEnv.DATABASE_URL }), env)
  const [owner, app] = [roleOf('MIGRATION_DATABASE_URL', ownerUrl), roleOf('DATABASE_URL', appUrl)]
  if (owner.database !== app.database)
    throw new EnvError(['MIGRATION_DATABASE_URL, DATABASE_URL: must name the same database'])
  return { database: owner.database, owner, app }
}

function roleOf(variable: string, url: string) {
  const { user, password, database } = new pg.Client({ connectionString: url })
  if (!user || !password || !database)
    throw new EnvError([`${variable}: must contain a user, a password and a database`])
  return { name: user, password, database }
}

async function provision(adminUrl: string, plan: DatabasePlan): Promise<DatabasePlan> {
  try {
    await provisionDatabase(adminUrl, plan, { isDedicated: true })
    return plan
  } catch (error) {
    const remedy = startHint(error, 'PROVISION_DATABASE_URL')
    throw new Error(`provisioning failed: ${messageOf(error)}${remedy === undefined ? '' : `\n${remedy}`}`, {
      cause: error,
    })
  }
}
