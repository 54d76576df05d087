import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type CommandOutcome, captureCommand, createTestDatabase, type TestDatabase } from '@vault-and-tracker/dev-env'
import type { Migration } from 'kysely'
import { runCommand } from '../src/lifecycle/command.ts'
import { createLogger } from '../src/log/logger.ts'
import { createMigrate, migrateCommand } from '../src/postgres/migrate.ts'
import { createPool } from '../src/postgres/pool.ts'

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
const migrate = createMigrate({ migrations: { '0001': first, '0002': second }, grants })

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ service: 'kit', migrate: () => Promise.resolve() })
})
afterAll(() => database.drop())

function runtimeRole(): string {
  return new URL(database.appUrl).username
}

function command(env: Record<string, string>): Promise<CommandOutcome> {
  const migration = migrateCommand({ migrate, runtimeRole: 'nobody_at_all' })
  return captureCommand((terminal) => runCommand(migration, terminal), { args: [], env })
}

test('migrations run once and in order, even if several start at once, and grant permissions to the run-time role', async () => {
  const run = (): Promise<readonly string[]> => migrate({ url: database.ownerUrl, runtimeRole: runtimeRole() })
  const results = await Promise.all([run(), run(), run()])
  expect(results.flat().toSorted()).toEqual(['0001', '0002'])

  const pool = createPool({ url: database.appUrl, name: 'test', size: 2, logger })
  await pool.query("insert into things (id, name) values (9007199254740991, 'a')")
  expect((await pool.query<{ id: number }>('select id from things')).rows).toEqual([{ id: 9_007_199_254_740_991 }])
  await expect(pool.query('drop table things')).rejects.toThrow('must be owner')
  await expect(pool.query('create table mine (id int)')).rejects.toThrow('permission denied')
  await pool.end()
})

test('a database of a newer release is refused with a remedy', async () => {
  const older = createMigrate({ migrations: { '0001': first }, grants })
  const run = older({ url: database.ownerUrl, runtimeRole: runtimeRole() })
  await expect(run).rejects.toThrow('migrated by a newer release')
})

test('a role name that is not a plain name is refused', async () => {
  const run = migrate({ url: database.ownerUrl, runtimeRole: 'a; drop table things' })
  await expect(run).rejects.toThrow('RUNTIME_ROLE')
})

test('the command prints the result', async () => {
  const env = { MIGRATION_DATABASE_URL: database.ownerUrl, RUNTIME_ROLE: runtimeRole() }
  expect(await command(env)).toEqual({ status: 0, stdout: 'The schema is up to date.\n', stderr: '' })
})

test('the command uses the role of its service if RUNTIME_ROLE is not set, and reports why it failed', async () => {
  expect(await command({ MIGRATION_DATABASE_URL: database.ownerUrl })).toEqual({
    status: 1,
    stdout: '',
    stderr: 'migrate: role "nobody_at_all" does not exist\n',
  })
})

test('the command names a missing variable', async () => {
  expect(await command({})).toMatchObject({ status: 1, stderr: expect.stringContaining('MIGRATION_DATABASE_URL') })
})

test('the command reports that Postgres is unavailable', async () => {
  const outcome = await command({ MIGRATION_DATABASE_URL: 'postgres://nobody@localhost:1/nothing' })
  expect(outcome).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^migrate: migration failed: .*ECONNREFUSED.*\nPostgres does not respond: start it, or correct MIGRATION_DATABASE_URL\.\n$/,
    ),
  })
})

test('the command prints a remedy if its role lacks permissions', async () => {
  const bare = await createTestDatabase({ service: 'kit', migrate: () => Promise.resolve() })
  const outcome = await command({ MIGRATION_DATABASE_URL: bare.appUrl, RUNTIME_ROLE: runtimeRole() })
  await bare.drop()
  expect(outcome).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'migrate: migration failed: permission denied for schema public\n' +
      'The role in MIGRATION_DATABASE_URL must own the database.\n',
  })
})
