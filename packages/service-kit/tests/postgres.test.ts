import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, startPostgres, type TestDatabase, temporaryFolder } from '@vault-and-tracker/dev-env'
import type { Migration } from 'kysely'
import { createLogger } from '../src/logger.ts'
import {
  createKysely,
  createPool,
  isPostgresUnavailable,
  migrateToLatest,
  orPostgresUnavailable,
  pingPostgres,
  violatedUniqueConstraint,
} from '../src/postgres.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
const first: Migration = {
  up: async (db) => {
    await db.schema
      .createTable('things')
      .addColumn('id', 'bigint', (c) => c.primaryKey())
      .execute()
  },
}
const second: Migration = {
  up: async (db) => {
    await db.schema
      .alterTable('things')
      .addColumn('name', 'text', (c) => c.unique())
      .execute()
  },
}
const grants = (role: string): string[] => [
  `grant usage on schema public to ${role}`,
  `grant select, insert on things to ${role}`,
]

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ service: 'kit', migrate: () => Promise.resolve() })
})
afterAll(() => database.drop())

function runtimeRole(): string {
  return new URL(database.appUrl).username
}

test('migrations run once, in order, however many start at once, and grant to the run-time role', async () => {
  const run = (): Promise<readonly string[]> =>
    migrateToLatest({
      url: database.ownerUrl,
      migrations: { '0001': first, '0002': second },
      grants,
      runtimeRole: runtimeRole(),
    })
  const results = await Promise.all([run(), run(), run()])
  expect(results.flat().toSorted()).toEqual(['0001', '0002'])

  const pool = createPool({ url: database.appUrl, name: 'test', size: 2, logger })
  await pool.query("insert into things (id, name) values (9007199254740991, 'a')")
  expect((await pool.query<{ id: number }>('select id from things')).rows).toEqual([{ id: 9_007_199_254_740_991 }])
  await expect(pool.query('drop table things')).rejects.toThrow('must be owner')
  await expect(pool.query('create table mine (id int)')).rejects.toThrow('permission denied')
  await pool.end()
})

test('a database of a newer release is refused with what to do', async () => {
  const run = migrateToLatest({
    url: database.ownerUrl,
    migrations: { '0001': first },
    grants,
    runtimeRole: runtimeRole(),
  })
  await expect(run).rejects.toThrow('migrated by a newer release')
})

test('a role name that is more than a name is refused', async () => {
  const run = migrateToLatest({ url: database.ownerUrl, migrations: {}, grants, runtimeRole: 'a; drop table things' })
  await expect(run).rejects.toThrow('RUNTIME_ROLE')
})

test('a unique violation names its constraint, other errors none', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger })
  const db = createKysely<{ things: { id: number; name: string } }>(pool)
  await db.insertInto('things').values({ id: 1, name: 'twin' }).execute()
  const again = await db
    .insertInto('things')
    .values({ id: 2, name: 'twin' })
    .execute()
    .catch((error: unknown) => error)
  expect(violatedUniqueConstraint(again)).toBe('things_name_key')
  expect(violatedUniqueConstraint(new Error('other'))).toBeUndefined()
  await db.destroy()
})

test('a bigint beyond 2^53 - 1 is an error, not another number', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger })
  await expect(pool.query('select 9007199254740993::bigint')).rejects.toThrow('exceeds 2^53 - 1')
  await pool.end()
})

test('a statement that takes too long counts as unavailable, a wrong one does not', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger, statementTimeoutMs: 100 })
  expect(isPostgresUnavailable(await pool.query('select pg_sleep(5)').catch((error: unknown) => error))).toBe(true)
  expect(isPostgresUnavailable(await pool.query('select nonsense').catch((error: unknown) => error))).toBe(false)
  await expect(orPostgresUnavailable(() => pool.query('select pg_sleep(5)'))).rejects.toThrow('postgres is unavailable')
  await expect(orPostgresUnavailable(() => pool.query('select nonsense'))).rejects.toThrow('does not exist')
  await pool.end()
})

test('a Postgres that is stopped, frozen or back is told apart', async () => {
  const postgres = await startPostgres({ dataDir: temporaryFolder('kit'), durable: false })
  const pool = createPool({ url: postgres.url, name: 'test', size: 2, logger, statementTimeoutMs: 200 })
  await pingPostgres(pool)
  await postgres.kill()
  await expect(pingPostgres(pool)).rejects.toThrow('postgres is unavailable')
  expect(isPostgresUnavailable(await pool.query('select 1').catch((error: unknown) => error))).toBe(true)
  await postgres.restart()
  await pingPostgres(pool)
  postgres.pause()
  expect(isPostgresUnavailable(await pool.query('select 1').catch((error: unknown) => error))).toBe(true)
  postgres.resume()
  await pingPostgres(pool)
  await pool.end()
  await postgres.stop()
})
