import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestDatabase } from '@vault-and-tracker/dev-env'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import type { Router } from 'express'
import { createApp } from '../src/app.ts'
import { ERRORS } from '../src/errors.ts'
import { createOpenapi } from '../src/openapi.ts'
import { send } from './support/client.ts'
import { errorsOf } from './support/documented.ts'
import { ADMIN_TOKEN, createVaultDatabase, startVault, type TestVault } from './support/vault.ts'

const SERVICE = join(import.meta.dirname, '..')
const README = readFileSync(join(SERVICE, 'README.md'), 'utf8')

let database: TestDatabase
let vault: TestVault

beforeAll(async () => {
  database = await createVaultDatabase()
  vault = await startVault({ databaseUrl: database.appUrl })
})
afterAll(async () => {
  await vault.stop()
  await database.drop()
})

const described = Object.entries(createOpenapi().paths).map(([path, operations]) => ({
  path,
  methods: Object.keys(operations).map((method) => method.toUpperCase()),
}))

/** The paths of all routers. */
function registered(router: Router): string[] {
  return router.stack.flatMap(({ route, handle }) => {
    if (route !== undefined) return [route.path].flat().map((path) => path.replaceAll(/:(\w+)/g, '{$1}'))
    return 'stack' in handle ? registered(handle as unknown as Router) : []
  })
}

test('openapi.json is what the schemas and the error table say', () => {
  expect(JSON.parse(readFileSync(join(SERVICE, 'openapi.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(createOpenapi())),
  )
})

test('every route is described, and nothing else is', () => {
  const app = createApp(vault.context, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  const operational = new Set(['/ready', '/metrics'])
  const routes = new Set(registered(app.router as unknown as Router).filter((path) => !operational.has(path)))
  expect([...routes].toSorted()).toEqual(described.map(({ path }) => path).toSorted())
})

test.each(described)('$path has the methods that are described', async ({ path, methods }) => {
  const url = vault.url + path.replace('{version}', '1').replace('{id}', 'x')
  const answer = await send(url, { method: 'OPTIONS', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } })
  const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD')
  expect(allowed.toSorted()).toEqual(methods.toSorted())
})

test('the README has every endpoint, and no other', () => {
  const listed = [...README.matchAll(/^\| `([A-Z]+) (\/\S*)` +\|/gm)].map(
    ([, method, path]) => `${String(method)} ${String(path)}`,
  )
  const expected = described.flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`))
  expect(listed.toSorted()).toEqual(expected.toSorted())
})

test('the README has every error with its status and meaning, and no other', () => {
  const listed = [...README.matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells)
  const expected = Object.entries(ERRORS).map(([code, { status, meaning }]) => [code, String(status), meaning])
  expect(listed).toEqual(expected)
})

test('every error is described for some endpoint, but for the one that the description has for all paths', () => {
  const operations = Object.values(createOpenapi().paths).flatMap((methods) => Object.values(methods))
  const codes = operations.flatMap(errorsOf)
  expect([...new Set([...codes, 'method_not_allowed'])].toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test('the README and .env.example have every variable, and no other', () => {
  const source = readFileSync(join(SERVICE, 'src/config.ts'), 'utf8')
  const common = ['HOST', 'DATABASE_URL', 'DATABASE_POOL_SIZE', 'REDIS_URL', 'TRUSTED_PROXIES', 'LOG_LEVEL']
  const own = [...source.matchAll(/^ {2}([A-Z_]{4,}): /gm)].map(([, name]) => String(name))
  const expected = [...new Set([...common, ...own])].toSorted()
  const example = readFileSync(join(SERVICE, '.env.example'), 'utf8')
  expect([...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name).toSorted()).toEqual(expected)
  const [, table = ''] = README.split(/\| Variable +\|/)
  const [rows = ''] = table.split('\n\n')
  const named = rows
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name))
  expect(named.toSorted()).toEqual(expected)
})
