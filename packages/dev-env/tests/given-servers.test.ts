import { expect, test } from '@jest/globals'
import { createTestDatabase, freePort } from '@vault-and-tracker/dev-env'
import { plannedChanges, requirePostgres, requireRedis } from '../src/databases/given-servers.ts'
import { databasePlan } from '../src/databases/provision.ts'
import { Fault } from '../src/processes/command.mjs'
import { currentTestRun } from '../src/testing/test-run.ts'
import { query } from './query.ts'

const { adminUrl, redisUrl } = currentTestRun()

function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href
}

/** The message of the fault that a check throws. */
async function faultOf(checked: Promise<void>): Promise<string> {
  const error: unknown = await checked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Fault)
  return (error as Fault).message
}

const postgres = (url: string): Promise<void> => requirePostgres({ url, variable: 'DATABASE_URL' })
const redis = (url: string): Promise<void> => requireRedis({ url, variable: 'REDIS_URL' })

test('servers that answer, of an administrator, are taken', async () => {
  await expect(postgres(adminUrl)).resolves.toBeUndefined()
  await expect(redis(redisUrl)).resolves.toBeUndefined()
})

test('a server that does not answer is one sentence with the remedy', async () => {
  const port = String(await freePort())
  expect(await faultOf(postgres(changed(adminUrl, { port })))).toBe(
    `No Postgres answers at 127.0.0.1:${port} (ECONNREFUSED): start it, correct DATABASE_URL, or unset it for a private one.`,
  )
  expect(await faultOf(redis(changed(redisUrl, { port })))).toBe(
    `No Redis answers at 127.0.0.1:${port} (ECONNREFUSED): start it, correct REDIS_URL, or unset it for a private one.`,
  )
})

test('a password or a database that is wrong is one sentence, without the password', async () => {
  const password = 'wrong-password'
  const messages = [
    await faultOf(postgres(changed(adminUrl, { password }))),
    await faultOf(postgres(changed(adminUrl, { pathname: '/nowhere' }))),
    await faultOf(redis(changed(redisUrl, { password }))),
  ]
  const { host } = new URL(adminUrl)
  expect(messages).toEqual([
    `Postgres at ${host} refuses the user or the password of DATABASE_URL: correct them.`,
    `There is no database nowhere at ${host}: create it, or name another one in DATABASE_URL.`,
    `Redis at ${new URL(redisUrl).host} refuses the user or the password of REDIS_URL: correct them.`,
  ])
})

test('a role without rights is one sentence with the statement that gives them', async () => {
  const database = await createTestDatabase({ service: 'given', migrate: () => Promise.resolve() })
  const message = await faultOf(postgres(database.appUrl))
  const role = new URL(database.appUrl).username
  expect(message).toContain(`The role ${role} of DATABASE_URL may not create roles and databases at `)
  const [, statement = ''] = /`(.*)`/.exec(message) ?? []
  await query(adminUrl, statement)
  await expect(postgres(database.appUrl)).resolves.toBeUndefined()
  await database.drop()
})

test('what will be created on a given server is said, and whose password will change', async () => {
  const database = await createTestDatabase({ service: 'given', migrate: () => Promise.resolve() })
  const [owner, app] = [database.ownerUrl, database.appUrl].map((url) => new URL(url).username)
  const fresh = databasePlan('planned_changes', () => 'x')
  const existing = {
    ...{ database: database.name, owner: { name: String(owner), password: 'x' } },
    app: { name: String(app), password: 'x' },
  }
  const given = { url: adminUrl, variable: 'DATABASE_URL' }
  const where = `At ${new URL(adminUrl).host}, which DATABASE_URL names`
  expect(await plannedChanges(given, [fresh, existing], (role) => role === owner)).toEqual([
    `${where}, this creates the roles planned_changes_owner, planned_changes_app and the database planned_changes.`,
    `${where}, this sets new passwords of the role ${String(app)}, which were not made from this folder.`,
  ])
  expect(await plannedChanges(given, [existing], () => true)).toEqual([])
  await database.drop()
})
