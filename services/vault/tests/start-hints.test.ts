import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { removeTemporaryFolder, type TestDatabase, temporaryFolder, testRedis } from '@vault-and-tracker/dev-env'
import { connectSql } from './support/sql.ts'
import { createVaultDatabase } from './support/vault.ts'
import { spawnVaultProcess } from './support/vault-process.ts'

const folder = temporaryFolder('start-hints')
const nobody = `test_hints_${randomBytes(4).toString('hex')}`

let database: TestDatabase
let redisUrl: string

beforeAll(async () => {
  database = await createVaultDatabase()
  redisUrl = (await testRedis()).url
  await asAdministrator(`create role ${nobody} login password 'secret'`)
  await asAdministrator(`grant connect on database ${database.name} to ${nobody}`)
})
afterAll(async () => {
  await asAdministrator(`drop owned by ${nobody}`)
  await asAdministrator(`drop role ${nobody}`)
  await database.drop()
  removeTemporaryFolder(folder)
})

async function asAdministrator(statement: string): Promise<void> {
  const sql = await connectSql(database.adminUrl)
  await sql(statement)
  await sql.end()
}

function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href
}

const CASES: readonly (readonly [string, () => { databaseUrl?: string; redisUrl?: string }, RegExp])[] = [
  ['no Postgres', () => ({ databaseUrl: changed(database.appUrl, { port: '9' }) }), /^Postgres .* DATABASE_URL\.$/],
  [
    'a wrong password',
    () => ({ databaseUrl: changed(database.appUrl, { password: 'wrong' }) }),
    /^Postgres .* password.* DATABASE_URL\.$/,
  ],
  [
    'no such database',
    () => ({ databaseUrl: changed(database.appUrl, { pathname: '/no_such_database' }) }),
    /^This database does not exist: create it, or correct DATABASE_URL\.$/,
  ],
  [
    'a role without rights',
    () => ({ databaseUrl: changed(database.appUrl, { username: nobody, password: 'secret' }) }),
    /migrate.*RUNTIME_ROLE.*DATABASE_URL/,
  ],
  [
    'a database that was not migrated',
    () => ({ databaseUrl: changed(database.adminUrl, { pathname: '/postgres' }) }),
    /^The tables of this release are missing.*migrate/,
  ],
  ['no Redis', () => ({ redisUrl: changed(redisUrl, { port: '9' }) }), /^Redis .* REDIS_URL\.$/],
]

test.concurrent.each(CASES)('%s: the start fails with a remedy instead of a stack', async (_what, change, hint) => {
  const vault = await spawnVaultProcess({ folder, databaseUrl: database.appUrl, redisUrl, ...change() })
  expect(await vault.process.exited).toEqual({ code: 1, signal: null })
  const lines = vault
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; hint?: string; reason?: string })
  const [failure] = lines.filter(({ msg }) => msg === 'could not start')
  expect(failure).toEqual(expect.objectContaining({ hint: expect.stringMatching(hint), reason: expect.any(String) }))
  expect(failure).not.toHaveProperty('err')
})
