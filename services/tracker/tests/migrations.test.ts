import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestDatabase } from '@vault-and-tracker/dev-env'
import pg from 'pg'
import { migrate } from '../src/db/migrations.ts'
import { createTrackerDatabase } from './support/tracker.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTrackerDatabase()
})

afterAll(() => database.drop())

async function asApp(statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: database.appUrl })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

test('a migrated database has nothing left to migrate', async () => {
  const role = new URL(database.appUrl).username
  await expect(migrate({ url: database.ownerUrl, runtimeRole: role })).resolves.toEqual([])
})

test('the site has exactly one row of settings', async () => {
  await expect(asApp('select download_percent, upload_percent from site_settings')).resolves.toEqual([
    { download_percent: 100, upload_percent: 100 },
  ])
  await expect(asApp('insert into site_settings default values')).rejects.toThrow(/permission denied/)
})

test.each([
  'create table intruder (id integer)',
  'alter table users add column intruder integer',
  'truncate users cascade',
  'drop table flush_log',
  'delete from users',
  'update flush_log set flushed_at = now()',
  "insert into kysely_migration values ('9999', 'now')",
])('the run-time role may not: %s', async (statement) => {
  await expect(asApp(statement)).rejects.toThrow(/permission denied|must be owner/)
})
