import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { openBodiesIn, routesOf } from '@vault-and-tracker/rest/testing'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createVaultClient, VAULT_ERROR_CODES } from '@vault-and-tracker/vault-client'
import { createApp, describeApi, ENDPOINTS } from '../src/app.ts'
import { ERRORS } from '../src/errors.ts'
import { codesOf } from '../src/http/surface.ts'
import { send } from './support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

const SERVICE = join(import.meta.dirname, '..')

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const described = Object.entries(describeApi().paths).map(([path, operations]) => ({
  path,
  methods: Object.keys(operations).map((method) => method.toUpperCase()),
}))

test('openapi.json is up to date', () => {
  expect(JSON.parse(readFileSync(join(SERVICE, 'openapi.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(describeApi())),
  )
})

test('documents exactly the served routes', () => {
  const app = createApp(vault.context, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  const forPeople = /^\/(docs|openapi\.json$|$)/
  const served = routesOf(app).filter((path) => !forPeople.test(path))
  expect(served).toEqual(described.map(({ path }) => path).toSorted())
})

test('every object in every body refuses unknown members', () => {
  expect(openBodiesIn(describeApi().paths)).toEqual([])
})

test.each(described)('$path has the methods that are described', async ({ path, methods }) => {
  const url = vault.url + path.replace('{version}', '1').replace('{id}', 'x')
  const answer = await send(url, { method: 'OPTIONS', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } })
  const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD')
  expect(allowed.toSorted()).toEqual(methods.toSorted())
})

test('documents every error', () => {
  const codes = ENDPOINTS.flatMap(codesOf)
  expect([...new Set([...codes, 'method_not_allowed'])].toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test('the client has a remedy for every error code', () => {
  expect(VAULT_ERROR_CODES.toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test.each(Object.entries(ERRORS))(
  'the client does not repeat the general message of %s',
  async (error, { status, meaning }) => {
    // Without a network, because only the text of the error is tested.
    const client = createVaultClient({
      ...{ url: 'http://vault.example.org', project: 'shop', privateKey: generateKeyPair().privateJwk, retries: 0 },
      fetch: () => Promise.resolve(Response.json({ error, message: meaning }, { status })),
    })
    await expect(client.getAll()).rejects.toMatchObject({ code: error, message: expect.not.stringContaining(meaning) })
  },
)
