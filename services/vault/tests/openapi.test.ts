import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openBodiesIn, routesOf } from '@vault-and-tracker/rest/testing'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createApp, describeApi, ENDPOINTS } from '../src/app.ts'
import { ERRORS } from '../src/errors.ts'
import { codesOf } from '../src/http/surface.ts'
import { send } from './support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

const SERVICE = join(import.meta.dirname, '..')
const README = readFileSync(join(SERVICE, 'README.md'), 'utf8')

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const described = Object.entries(describeApi().paths).map(([path, operations]) => ({
  path,
  methods: Object.keys(operations).map((method) => method.toUpperCase()),
}))

test('openapi.json is what the schemas and the error table say', () => {
  expect(JSON.parse(readFileSync(join(SERVICE, 'openapi.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(describeApi())),
  )
})

test('every route that is served is described, and every described one served', () => {
  const app = createApp(vault.context, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  const documentation = /^\/(docs|openapi\.json$)/
  const served = routesOf(app).filter((path) => !documentation.test(path))
  expect(served).toEqual(described.map(({ path }) => path).toSorted())
})

test('every object in every body refuses unknown members', () => {
  expect(openBodiesIn(describeApi().paths)).toEqual([])
})

test('operation ids are unique', () => {
  const ids = ENDPOINTS.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

test.each(described)('$path has the methods that are described', async ({ path, methods }) => {
  const url = vault.url + path.replace('{version}', '1').replace('{id}', 'x')
  const answer = await send(url, { method: 'OPTIONS', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } })
  const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD')
  expect(allowed.toSorted()).toEqual(methods.toSorted())
})

test('every error is described for some endpoint, but for the one that the description has for all paths', () => {
  const codes = ENDPOINTS.flatMap(codesOf)
  expect([...new Set([...codes, 'method_not_allowed'])].toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test('the README and .env.example have every variable, and no other', () => {
  const source = readFileSync(join(SERVICE, 'src/config.ts'), 'utf8')
  const common = ['HOST', 'DATABASE_URL', 'DATABASE_POOL_SIZE', 'REDIS_URL', 'TRUSTED_PROXIES', 'LOG_LEVEL', 'REVISION']
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
