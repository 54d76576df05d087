import { afterAll, afterEach, beforeEach, expect, it } from '@jest/globals'
import { type ApplyMigrations, createTestDatabase, type TestDatabase } from '@vault-and-tracker/dev-env'
import setup from '../src/jest/global-setup.ts'
import teardown from '../src/jest/global-teardown.ts'
import { query } from './query.ts'

const VARIABLES = ['TEST_RUN_ID', 'TEST_DATABASE_URL', 'TEST_REDIS_URL']
const outside = VARIABLES.map((name) => [name, process.env[name]] as const)

/** Like a jest that was just started. The run of this file is restored at the end. */
beforeEach(() => {
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
})
afterEach(() => teardown({ watch: false, watchAll: false }))
afterAll(() => {
  for (const [name, value] of outside) process.env[name] = value
})

/** Acts as a test file, with a migration that may have changed since the last save. */
async function createWith(table: string): Promise<TestDatabase> {
  const migrate: ApplyMigrations = async ({ url }) => {
    await query(url, `create table ${table} ()`)
  }
  return await createTestDatabase({ service: 'watched', migrate })
}

const tables = ({ adminUrl }: TestDatabase) =>
  query(adminUrl, "select tablename from pg_tables where schemaname = 'public'")

it('in watch mode the servers keep running, and each run migrates again and drops its databases', async () => {
  await setup()
  const url = String(process.env['TEST_DATABASE_URL'])
  for (const table of ['first_save', 'second_save', 'third_save']) {
    await setup()
    expect(process.env['TEST_DATABASE_URL']).toBe(url)
    expect(await tables(await createWith(table))).toEqual([{ tablename: table }])
    await teardown({ watch: false, watchAll: true })
    expect(await query(url, "select datname from pg_database where datname like 'test%'")).toEqual([])
  }
})

it('outside of watch mode the servers end with the run', async () => {
  await setup()
  const url = String(process.env['TEST_DATABASE_URL'])
  await teardown({ watch: false, watchAll: false })
  await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})
