import { type DatabasePlan, withClient } from '@vault-and-tracker/service-kit/postgres/provision'
import { Redis } from 'ioredis'
import pg from 'pg'
import { Fault } from '../processes/command.mjs'
import { codeOf } from '../processes/stop.mjs'

/** A URL that the user has set, and the name of its variable. */
export type Given = { url: string; variable: string }

const CONNECT_MS = 5_000

function placeOf(url: string): string {
  return new URL(url).host
}

function noAnswer(server: string, { url, variable }: Given, code: unknown): string {
  const reason = typeof code === 'string' ? code : 'no answer in time'
  return `No ${server} answers at ${placeOf(url)} (${reason}). Start it, correct ${variable}, or unset it to use a private one.`
}

/**
 * Checks that the Postgres of the user answers, and that its role may create databases and roles.
 *
 * @throws {Fault} with the remedy, and never with a password
 */
export async function requirePostgres(given: Given): Promise<void> {
  const { url, variable } = given
  const { host, username, pathname } = new URL(url)
  const mayCreate = await withClient(url, async (client) => {
    const found = await client.query<{ may: boolean }>(
      'select rolsuper or (rolcreaterole and rolcreatedb) as may from pg_roles where rolname = current_user',
    )
    return found.rows[0]?.may === true
  }).catch((cause: unknown) => {
    const code = codeOf(cause)
    if (code === '28P01' || code === '28000')
      throw new Fault(`Postgres at ${host} refuses the user or password in ${variable}. Correct them.`, { cause })
    if (code === '3D000')
      throw new Fault(
        `There is no database ${pathname.slice(1)} at ${host}. Create it, or name another one in ${variable}.`,
        { cause },
      )
    throw new Fault(noAnswer('Postgres', given, code), { cause })
  })
  if (mayCreate) return
  const role = decodeURIComponent(username)
  throw new Fault(
    `The role ${role} in ${variable} may not create roles and databases at ${host}. Run ` +
      `\`alter role ${pg.escapeIdentifier(role)} createrole createdb\` there, or name an administrator in ${variable}.`,
  )
}

/**
 * Checks that the Redis of the user answers.
 *
 * @throws {Fault} with the remedy, and never with a password
 */
export async function requireRedis(given: Given): Promise<void> {
  const client = new Redis(given.url, {
    ...{ lazyConnect: true, connectTimeout: CONNECT_MS, commandTimeout: CONNECT_MS },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  })
  let connectionError: unknown
  client.on('error', (error) => (connectionError = error))
  try {
    await client.connect()
    await client.ping()
  } catch (error) {
    const cause = connectionError ?? error
    const isRefused = cause instanceof Error && /^(?:WRONGPASS|NOAUTH|NOPERM|ERR invalid password)/.test(cause.message)
    const refusal = `Redis at ${placeOf(given.url)} refuses the user or password in ${given.variable}. Correct them.`
    throw new Fault(isRefused ? refusal : noAnswer('Redis', given, codeOf(cause)), { cause })
  } finally {
    client.disconnect()
  }
}

/**
 * Describes the changes that provisioning will make on the user's server.
 *
 * @param isKnown whether the password of a role was set from this data directory before
 */
export async function plannedChanges(
  { url, variable }: Given,
  plans: readonly DatabasePlan[],
  isKnown: (role: string) => boolean,
): Promise<string[]> {
  const roles = plans.flatMap(({ owner, app }) => [owner.name, app.name])
  const databases = plans.map(({ database }) => database)
  const existing = await withClient(url, async (client) => {
    const found = await client.query<{ name: string }>(
      `select 'role ' || rolname as name from pg_roles where rolname = any($1)
       union all select 'database ' || datname from pg_database where datname = any($2)`,
      [roles, databases],
    )
    return new Set(found.rows.map(({ name }) => name))
  })
  const created = [...roles.map((name) => `role ${name}`), ...databases.map((name) => `database ${name}`)]
  const missing = created.filter((name) => !existing.has(name))
  const changed = roles.filter((name) => existing.has(`role ${name}`) && !isKnown(name))
  const where = `At ${placeOf(url)} (${variable}), this`
  return [
    ...(missing.length > 0 ? [`${where} creates: ${missing.join(', ')}.`] : []),
    ...(changed.length > 0 ? [`${where} sets new passwords for existing roles: ${changed.join(', ')}.`] : []),
  ]
}
