import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createTestDatabase,
  eventually,
  startPostgres,
  type TestDatabase,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { sql } from 'kysely'
import pg from 'pg'
import { isPostgresUnavailable } from '../src/core/unavailable.ts'
import { createLogger } from '../src/log/logger.ts'
import { createKysely, createPool, pingPostgres, violatedUniqueConstraint, withDatabase } from '../src/postgres/pool.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ service: 'kit', migrate: () => Promise.resolve() })
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  await owner.query('create table things (id bigint primary key, name text unique)')
  await owner.query(`grant select, insert on things to ${new URL(database.appUrl).username}`)
  await owner.end()
})
afterAll(() => database.drop())

test('only unique violations have a constraint', async () => {
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

test('a query builder that ran no query ends its pool as well', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger })
  await createKysely(pool).destroy()
  expect(pool.ended).toBe(true)
})

test('a bigint beyond 2^53 - 1 is an error, not another number', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger })
  await expect(pool.query('select 9007199254740993::bigint')).rejects.toThrow('exceeds 2^53 - 1')
  await pool.end()
})

test('a statement that takes too long counts as unavailable, an invalid one does not', async () => {
  const pool = createPool({ url: database.appUrl, name: 'test', size: 1, logger, statementTimeoutMs: 100 })
  expect(isPostgresUnavailable(await pool.query('select pg_sleep(5)').catch((error: unknown) => error))).toBe(true)
  expect(isPostgresUnavailable(await pool.query('select nonsense').catch((error: unknown) => error))).toBe(false)
  await pool.end()
})

test('recognises a Postgres that is stopped, frozen or back', async () => {
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

test('withDatabase closes its connections whether the work succeeds or fails', async () => {
  const options = { url: database.appUrl, name: 'own-work', level: 'silent', destination: process.stderr }
  const open = "select count(*)::int as count from pg_stat_activity where application_name = 'own-work'"
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  const left = async () => (await owner.query<{ count: number }>(open)).rows[0]?.count
  const selected = withDatabase(options, (db) => sql<{ one: number }>`select 1 as one`.execute(db))
  expect((await selected).rows).toEqual([{ one: 1 }])
  await expect(withDatabase(options, (db) => sql`select nonsense`.execute(db))).rejects.toThrow('nonsense')
  await expect(eventually(async () => (await left()) === 0)).resolves.toBeUndefined()
  await owner.end()
})
