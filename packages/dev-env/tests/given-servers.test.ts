import { expect, test } from '@jest/globals'
import { createTestDatabase, freePort } from '@vault-and-tracker/dev-env'
import { databasePlan } from '../src/databases/admin.ts'
import { plannedChanges, requirePostgres, requireRedis } from '../src/databases/given-servers.ts'
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

test('the servers of an administrator are accepted', async () => {
  await expect(postgres(adminUrl)).resolves.toBeUndefined()
  await expect(redis(redisUrl)).resolves.toBeUndefined()
})

test('a server that does not answer is named with its variable', async () => {
  const port = String(await freePort())
  expect(await faultOf(postgres(changed(adminUrl, { port })))).toMatch(
    /127\.0\.0\.1:\d+ \(ECONNREFUSED\).*DATABASE_URL/,
  )
  expect(await faultOf(redis(changed(redisUrl, { port })))).toMatch(/127\.0\.0\.1:\d+ \(ECONNREFUSED\).*REDIS_URL/)
})

test('a wrong password or database is reported without the password', async () => {
  const password = 'wrong-password'
  const messages = [
    await faultOf(postgres(changed(adminUrl, { password }))),
    await faultOf(postgres(changed(adminUrl, { pathname: '/nowhere' }))),
    await faultOf(redis(changed(redisUrl, { password }))),
  ]
  expect(messages).toEqual([
    expect.stringMatching(/password in DATABASE_URL/),
    expect.stringMatching(/no database nowhere at .*DATABASE_URL/),
    expect.stringMatching(/password in REDIS_URL/),
  ])
  expect(messages.join()).not.toContain(password)
})

test('for a role without rights the message contains the statement that grants them', async () => {
  const database = await createTestDatabase({ service: 'given', migrate: () => Promise.resolve() })
  const message = await faultOf(postgres(database.appUrl))
  expect(message).toContain(new URL(database.appUrl).username)
  const [, statement = ''] = /`(.*)`/.exec(message) ?? []
  await query(adminUrl, statement)
  await expect(postgres(database.appUrl)).resolves.toBeUndefined()
  await database.drop()
})

test('changes on a server of the user are announced: new roles and databases, and changed passwords', async () => {
  const database = await createTestDatabase({ service: 'given', migrate: () => Promise.resolve() })
  const [owner = '', app = ''] = [database.ownerUrl, database.appUrl].map((url) => new URL(url).username)
  const fresh = databasePlan('planned_changes', () => 'x')
  const existing = { database: database.name, owner: { name: owner, password: 'x' }, app: { name: app, password: 'x' } }
  const given = { url: adminUrl, variable: 'DATABASE_URL' }
  expect(await plannedChanges(given, [fresh, existing], (role) => role === owner)).toEqual([
    expect.stringMatching(/creates: role planned_changes_owner, role planned_changes_app, database planned_changes\.$/),
    expect.stringContaining(`existing roles: ${app}.`),
  ])
  expect(await plannedChanges(given, [existing], () => true)).toEqual([])
  await database.drop()
})
