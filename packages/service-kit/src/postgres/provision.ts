import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'

const { escapeIdentifier, escapeLiteral } = pg

/** A role of Postgres that signs in with a password. */
export type Role = { readonly name: string; readonly password: string }

/** A database with the role that owns and migrates it, and the role that a service runs with. */
export type DatabasePlan = { readonly database: string; readonly owner: Role; readonly app: Role }

/** Runs some work on its own connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  // Without a listener, a server that ends meanwhile would end this process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * Creates missing roles and databases, and sets passwords and rights as planned. It can run again, and several times at
 * once. The run-time role may only connect; the migrations grant the rest.
 *
 * @param adminUrl a superuser, or a role that may create roles and databases
 * @param options `isDedicated` means that the server has no other users
 */
export async function provisionDatabase(
  adminUrl: string,
  plan: DatabasePlan,
  { isDedicated = false } = {},
): Promise<void> {
  const { database, owner, app } = plan
  await withClient(adminUrl, async (admin) => {
    // Two sessions that change the same role or database at once would both fail.
    await admin.query("select pg_advisory_lock(hashtextextended('provision database', 0))")
    await ensureRole(admin, owner)
    await ensureRole(admin, app)
    const known = await admin.query('select 1 from pg_database where datname = $1', [database])
    if (known.rowCount === 0) await createDatabase(admin, plan)
    await guardDatabase(admin, plan)
    if (isDedicated) await closeServer(admin)
    await withClient(
      Object.assign(new URL(adminUrl), { pathname: `/${encodeURIComponent(database)}` }).href,
      (inside) =>
        inside.query(`
        alter schema public owner to ${escapeIdentifier(owner.name)};
        revoke all on schema public from public;
        grant usage on schema public to ${escapeIdentifier(app.name)}`),
    )
  })
}

/** Lets no other role connect to the databases that every server has, if the administrator is a superuser. */
async function closeServer(admin: pg.Client): Promise<void> {
  const own = await admin.query<{ may: boolean }>('select rolsuper as may from pg_roles where rolname = current_user')
  if (own.rows[0]?.may === true) await admin.query('revoke connect on database postgres, template1 from public')
}

/** Makes sure that a role can sign in with this password. */
async function ensureRole(admin: pg.Client, { name, password }: Role): Promise<void> {
  const known = await admin.query('select 1 from pg_roles where rolname = $1', [name])
  const verb = known.rowCount === 0 ? 'create' : 'alter'
  await admin.query(`${verb} role ${escapeIdentifier(name)} login password ${escapeLiteral(verifierOf(password))}`)
}

/** The form in which Postgres stores a password (RFC 5803), so that the password itself is in no statement and no log. */
function verifierOf(password: string): string {
  const [salt, iterations] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256')
  const keyFor = (use: string): Buffer => createHmac('sha256', salted).update(use).digest()
  const stored = createHash('sha256').update(keyFor('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyFor('Server Key').toString('base64')}`
}

/** Creates the database for its owner, empty or as a copy of a template. */
export async function createDatabase(admin: pg.Client, plan: DatabasePlan, template?: string): Promise<void> {
  const { database, owner } = plan
  // Creating a database for a role requires membership in it, which an administrator who is no superuser has to be given.
  await admin.query(`grant ${escapeIdentifier(owner.name)} to current_user`)
  const content =
    template === undefined
      ? `template template0 encoding 'UTF8' ${await localeClause(admin)}`
      : // The default strategy writes every page to the write-ahead log too.
        `template ${escapeIdentifier(template)} strategy file_copy`
  await admin.query(`create database ${escapeIdentifier(database)} owner ${escapeIdentifier(owner.name)} ${content}`)
}

/** Byte order, which no later release of the C library changes: an upgrade of the server leaves every index valid. */
async function localeClause(admin: pg.Client): Promise<string> {
  // The column is new in Postgres 15; `b` is the locale provider of Postgres itself, and `i` is ICU.
  const { rows } = await admin.query<{ provider: string | null }>(
    "select to_jsonb(d) ->> 'datlocprovider' as provider from pg_database d where datname = 'template0'",
  )
  const provider = rows[0]?.provider
  if (provider === 'b') return "builtin_locale 'C.UTF-8'"
  return `${provider === 'i' ? 'locale_provider libc ' : ''}locale 'C.UTF-8'`
}

/** Lets only the owner and the run-time role connect; by default every role may connect to a new database. */
export async function guardDatabase(admin: pg.Client, { database, app }: DatabasePlan): Promise<void> {
  const name = escapeIdentifier(database)
  await admin.query(`revoke all on database ${name} from public`)
  await admin.query(`grant connect on database ${name} to ${escapeIdentifier(app.name)}`)
}
