import pg from 'pg'
import { type Role, withClient, withDatabase } from './admin.ts'

const { escapeIdentifier, escapeLiteral } = pg

/** A database with the role that migrates it and the role that a service runs with. */
export type DatabasePlan = {
  database: string
  owner: Role
  app: Role
}

/** A plan by the prefix of its names: the roles are called `<prefix>_owner` and `<prefix>_app`. */
export function databasePlan(prefix: string, passwordOf: (role: string) => string, database = prefix): DatabasePlan {
  const role = (name: string): Role => ({ name, password: passwordOf(name) })
  return { database, owner: role(`${prefix}_owner`), app: role(`${prefix}_app`) }
}

/**
 * Creates missing roles and databases, and sets passwords and grants as planned.
 * The run-time role gets only the right to connect; the migrations grant the rest.
 */
export async function provisionDatabase(adminUrl: string, plan: DatabasePlan): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    await ensureRole(admin, plan.owner)
    await ensureRole(admin, plan.app)
    const known = await admin.query('select 1 from pg_database where datname = $1', [plan.database])
    if (known.rowCount === 0) await createDatabase(admin, plan)
    await guardDatabase(admin, plan)
  })
}

/** Makes sure that a role can sign in with this password. */
async function ensureRole(admin: pg.Client, role: Role): Promise<void> {
  const known = await admin.query('select 1 from pg_roles where rolname = $1', [role.name])
  const verb = known.rowCount === 0 ? 'create' : 'alter'
  await admin.query(`${verb} role ${escapeIdentifier(role.name)} login password ${escapeLiteral(role.password)}`)
}

/** Creates the database for its owner, empty or as a copy of a template. */
export async function createDatabase(admin: pg.Client, plan: DatabasePlan, template?: string): Promise<void> {
  const { database, owner } = plan
  // Creating a database for a role requires membership in it, which an administrator who is no superuser has to be given.
  await admin.query(`grant ${escapeIdentifier(owner.name)} to current_user`)
  // The default strategy writes every page to the write-ahead log too.
  const from = template === undefined ? '' : ` template ${escapeIdentifier(template)} strategy file_copy`
  await admin.query(`create database ${escapeIdentifier(database)} owner ${escapeIdentifier(owner.name)}${from}`)
}

/** Lets only the owner and the run-time role connect; by default every role may connect to a new database. */
export async function guardDatabase(admin: pg.Client, { database, app }: DatabasePlan): Promise<void> {
  const name = escapeIdentifier(database)
  await admin.query(`revoke connect, temporary on database ${name} from public`)
  await admin.query(`grant connect on database ${name} to ${escapeIdentifier(app.name)}`)
}

/** Drops a database and ends all connections to it. */
export async function dropDatabase(adminUrl: string, database: string): Promise<void> {
  await withClient(withDatabase(adminUrl, 'postgres'), async (admin) => {
    await admin.query(`drop database if exists ${escapeIdentifier(database)} with (force)`)
  })
}
