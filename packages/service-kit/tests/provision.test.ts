import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type CommandOutcome,
  captureCommand,
  removeTemporaryFolder,
  startPostgres,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import type { Migration } from 'kysely'
import { runCommand } from '../src/lifecycle/command.ts'
import { createMigrate, migrateCommand } from '../src/postgres/migrate.ts'
import { withClient } from '../src/postgres/provision.ts'

const folder = temporaryFolder('provision')
let server: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  server = await startPostgres({ dataDir: join(folder, 'postgres'), durable: false })
})
afterAll(async () => {
  await server.stop()
  removeTemporaryFolder(folder)
})

const things: Migration = { up: (db) => db.schema.createTable('things').execute() }
const migrate = createMigrate({
  migrations: { '0001': things },
  grants: (role) => [`grant select, insert on things to ${role}`],
})

/** A URL of the server with another user and database. */
function urlOf(username: string, password: string, database: string): string {
  return Object.assign(new URL(server.url), { username, password, pathname: `/${database}` }).href
}

function variables(database: string, password: string): Record<string, string> {
  return {
    PROVISION_DATABASE_URL: server.url,
    MIGRATION_DATABASE_URL: urlOf(`${database}_owner`, `${password}-owner`, database),
    DATABASE_URL: urlOf(`${database}_app`, `${password}-app`, database),
  }
}

function command(env: Record<string, string>): Promise<CommandOutcome> {
  const migration = migrateCommand({ migrate, runtimeRole: 'nobody_at_all' })
  return captureCommand((terminal) => runCommand(migration, terminal), { args: [], env })
}

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  return await withClient(url, async (client) => (await client.query({ text: sql, rowMode: 'array' })).rows)
}

test('creates the databases of two services that migrate at once, several times, and closes the server', async () => {
  const [shop, blog] = [variables('shop', 'canary'), variables('blog', 'canary')]
  const outcomes = await Promise.all([shop, blog, shop, blog].map(command))
  expect(outcomes.map(({ status, stderr }) => [status, stderr])).toEqual(Array.from({ length: 4 }, () => [0, '']))

  const app = String(shop['DATABASE_URL'])
  expect(await rowsOf(app, 'select count(*)::int from things')).toEqual([[0]])
  await expect(rowsOf(app, 'create table more ()')).rejects.toThrow('permission denied for schema public')
  await expect(rowsOf(app, 'create temporary table more ()')).rejects.toThrow('permission denied')
  for (const other of ['blog', 'postgres', 'template1'])
    await expect(rowsOf(urlOf('shop_app', 'canary-app', other), 'select 1')).rejects.toThrow(
      'permission denied for data',
    )
  const place = 'from pg_database, pg_namespace where datname = current_database() and nspname = $$public$$'
  expect(
    await rowsOf(app, `select pg_encoding_to_char(encoding), datlocale, pg_get_userbyid(nspowner) ${place}`),
  ).toEqual([['UTF8', 'C.UTF-8', 'shop_owner']])
})

test('sets new passwords, keeps the data, and has no password in a statement', async () => {
  await rowsOf(server.url, "alter system set log_statement = 'all'")
  await rowsOf(server.url, 'select pg_reload_conf()')
  await command(variables('kept', 'before'))
  await rowsOf(urlOf('kept_app', 'before-app', 'kept'), 'insert into things default values')
  expect((await command(variables('kept', 'påss wörd'))).status).toBe(0)
  expect(await rowsOf(urlOf('kept_app', 'påss wörd-app', 'kept'), 'select count(*)::int from things')).toEqual([[1]])
  await expect(rowsOf(urlOf('kept_app', 'before-app', 'kept'), 'select 1')).rejects.toThrow('password')
  const log = readFileSync(join(folder, 'postgres', 'postgres.log'), 'utf8')
  expect(log).toContain('role "kept_app" login')
  expect(log).not.toMatch(/before-|påss/)
})

test('needs no superuser, and then leaves the other databases open', async () => {
  await rowsOf(server.url, "create role manager login createrole createdb password 'manager'")
  await rowsOf(server.url, 'grant connect on database postgres to public')
  const admin = urlOf('manager', 'manager', 'postgres')
  expect(await command({ ...variables('managed', 'x'), PROVISION_DATABASE_URL: admin })).toMatchObject({ status: 0 })
  expect(await rowsOf(urlOf('managed_app', 'x-app', 'postgres'), 'select 1')).toEqual([[1]])
})

test('reads each URL from a file, and names the variable of each problem without its value', async () => {
  const all = variables('filed', 'canary')
  const files = Object.entries(all).map(([name, url]): [string, string] => {
    writeFileSync(join(folder, name), `${url}\n`, { mode: 0o600 })
    return [`${name}_FILE`, join(folder, name)]
  })
  expect((await command(Object.fromEntries(files))).status).toBe(0)
  for (const [change, problem] of [
    [{ DATABASE_URL: '' }, /DATABASE_URL: is required/],
    [{ DATABASE_URL: urlOf('filed_app', 'canary', 'elsewhere') }, /MIGRATION_DATABASE_URL, DATABASE_URL: .*same/],
    [{ DATABASE_URL: urlOf('filed_app', '', 'filed') }, /DATABASE_URL: .*password/],
    [{ PROVISION_DATABASE_URL: urlOf('postgres', 'canary', 'postgres') }, /password.*PROVISION_DATABASE_URL/],
  ] as const) {
    const outcome = await command({ ...all, ...change })
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringMatching(problem) })
    expect(outcome.stderr).not.toContain('canary')
  }
})
