import { Redis } from 'ioredis'
import pg from 'pg'
import { Fault } from '../processes/command.mjs'
import { codeOf } from '../processes/stop.mjs'
import { withClient } from './admin.ts'
import type { DatabasePlan } from './provision.ts'

/** A URL that the user has set, and the name of its variable. */
export type Given = {
  url: string
  variable: string
}

const CONNECT_MS = 5_000

/**
 * Makes sure that a Postgres that the user names answers, and that its role may create databases and roles.
 *
 * @throws {Fault} one sentence with the remedy; a password is never in it
 */
export async function requirePostgres({ url, variable }: Given): Promise<void> {
  const { username, pathname } = new URL(url)
  const place = placeOf(url)
  try {
    const mayCreate = await withClient(url, async (client) => {
      const found = await client.query<{ may: boolean }>(
        'select rolsuper or (rolcreaterole and rolcreatedb) as may from pg_roles where rolname = current_user',
      )
      return found.rows[0]?.may === true
    })
    if (mayCreate) return
  } catch (cause) {
    throw new Fault(postgresSentence(codeOf(cause), { place, variable, database: pathname.slice(1) }), { cause })
  }
  const role = decodeURIComponent(username)
  throw new Fault(
    `The role ${role} of ${variable} may not create roles and databases at ${place}: run ` +
      `\`alter role ${pg.escapeIdentifier(role)} createrole createdb\` there, or name an administrator in ${variable}.`,
  )
}

function postgresSentence(
  code: unknown,
  { place, variable, database }: { place: string; variable: string; database: string },
): string {
  if (code === '28P01' || code === '28000')
    return `Postgres at ${place} refuses the user or the password of ${variable}: correct them.`
  if (code === '3D000')
    return `There is no database ${database} at ${place}: create it, or name another one in ${variable}.`
  return `No Postgres answers at ${place} (${reasonOf(code)}): start it, correct ${variable}, or unset it for a private one.`
}

/**
 * Makes sure that a Redis that the user names answers.
 *
 * @throws {Fault} one sentence with the remedy; a password is never in it
 */
export async function requireRedis({ url, variable }: Given): Promise<void> {
  const client = new Redis(url, {
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
    const message = cause instanceof Error ? cause.message : ''
    const sentence = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR invalid password)/.test(message)
      ? `Redis at ${placeOf(url)} refuses the user or the password of ${variable}: correct them.`
      : `No Redis answers at ${placeOf(url)} (${reasonOf(codeOf(cause))}): start it, correct ${variable}, or unset it for a private one.`
    throw new Fault(sentence, { cause })
  } finally {
    client.disconnect()
  }
}

/**
 * What provisioning will change on a server that the user named, as sentences; none where everything is there.
 *
 * @param isKnown whether the password of a role is one that was set from here before
 */
export async function plannedChanges(
  { url, variable }: Given,
  plans: readonly DatabasePlan[],
  isKnown: (role: string) => boolean,
): Promise<string[]> {
  const roles = plans.flatMap(({ owner, app }) => [owner.name, app.name])
  const databases = plans.map(({ database }) => database)
  const [oldRoles, oldDatabases] = await withClient(url, async (client) => [
    await namesOf(client, 'select rolname as name from pg_roles where rolname = any($1)', roles),
    await namesOf(client, 'select datname as name from pg_database where datname = any($1)', databases),
  ])
  const created = [
    ...listOf(
      'role',
      roles.filter((name) => !oldRoles.includes(name)),
    ),
    ...listOf(
      'database',
      databases.filter((name) => !oldDatabases.includes(name)),
    ),
  ]
  const changed = listOf(
    'role',
    oldRoles.filter((name) => !isKnown(name)),
  )
  const where = `At ${placeOf(url)}, which ${variable} names`
  return [
    ...(created.length > 0 ? [`${where}, this creates the ${created.join(' and the ')}.`] : []),
    ...changed.map(
      (names) => `${where}, this sets new passwords of the ${names}, which were not made from this folder.`,
    ),
  ]
}

/** "roles a, b"; nothing where there is none. */
function listOf(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}${names.length > 1 ? 's' : ''} ${names.join(', ')}`]
}

async function namesOf(client: pg.Client, query: string, names: readonly string[]): Promise<string[]> {
  return (await client.query<{ name: string }>(query, [names])).rows.map(({ name }) => name)
}

function reasonOf(code: unknown): string {
  return typeof code === 'string' ? code : 'no answer in time'
}

function placeOf(url: string): string {
  return new URL(url).host
}
