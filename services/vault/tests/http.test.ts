import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { openBodiesIn, routesOf } from '@vault-and-tracker/rest/testing'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createVaultClient, VAULT_ERROR_CODES } from '@vault-and-tracker/vault-client'
import { createApp, describeApi, ENDPOINTS } from '../src/app.ts'
import { ERRORS } from '../src/errors.ts'
import { codesOf } from '../src/http/surface.ts'
import { type Answer, admin, createProject, type Key, newKey, send, signedSend } from './support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const error = (answer: Answer) => [answer.status, (answer.body as { error: string }).error]

test('health, readiness and metrics answer without authentication', async () => {
  expect((await send(`${vault.url}/health`)).body).toEqual({ ok: true })
  const ready = await send(`${vault.url}/ready`)
  expect([ready.status, ready.body]).toEqual([
    200,
    { ok: true, checks: { postgres: 'ok', redis: 'ok', keyring: 'ok', audit: 'ok' } },
  ])
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toContain('http_request_duration_seconds')
  expect(metrics).toContain('vault_decryption_failures_total 0')
})

test('counts responses and refusals by route', async () => {
  expect((await admin(vault.url, 'GET', '/projects/nobody/secrets')).status).toBe(404)
  expect((await send(`${vault.url}/health`)).status).toBe(200)
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toContain('_count{method="GET",route="/v1/admin/projects/:id/secrets",status="404"} 1')
  expect(metrics).toMatch(/_count\{method="GET",route="\/health",status="200"\} /)
})

test.each([
  '/v1',
  '/v1/',
  '/v1/secrets/',
  '/V1/secrets',
  '/v1/Secrets',
  '/v1//secrets',
  '/health/',
  '/favicon.ico',
  '/%zz',
  '/v1/secrets/a/b',
])('returns 404 for the path %s', async (path) => {
  const answer = await send(`${vault.url}${path}`)
  expect(error(answer)).toEqual([404, 'not_found'])
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
})

test.each([
  ['POST', '/v1/secrets', 'GET, PUT, DELETE'],
  ['OPTIONS', '/v1/secrets', 'GET, PUT, DELETE'],
  ['GET', '/v1/secrets/x', 'DELETE'],
  ['PUT', '/v1/admin/projects', 'GET, POST'],
  ['GET', '/v1/admin/projects/x', 'PATCH, DELETE'],
  ['POST', '/v1/admin/projects/x/rotate', 'PUT'],
  ['POST', '/v1/admin/audit', 'GET'],
  ['POST', '/health', 'GET, HEAD'],
  ['POST', '/docs', 'GET, HEAD'],
  ['DELETE', '/docs/start.js', 'GET, HEAD'],
])('returns 405 for %s %s with the allowed methods', async (method, path, allow) => {
  const answer = await send(`${vault.url}${path}`, { method, headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } })
  expect(error(answer)).toEqual([405, 'method_not_allowed'])
  expect(answer.headers.get('allow')).toBe(allow)
})

test.each(['/v1/admin/nothing', '/v1/admin/projects/%zz', '/v1/admin/projects/a/secrets/b'])(
  'without a token %s is unauthorized, even for unknown names',
  async (path) => {
    expect(error(await send(`${vault.url}${path}`))).toEqual([401, 'unauthorized'])
  },
)

test('every response forbids caching and hides the server', async () => {
  const key = await createProject(vault.url, 'headers')
  const url = `${vault.url}/v1/secrets`
  const answers = [
    await signedSend({ project: 'headers', key, method: 'GET', url }),
    await send(url),
    await send(`${vault.url}/health`),
    await send(`${vault.url}/nowhere`),
    await admin(vault.url, 'GET', '/projects'),
    await admin(vault.url, 'POST', '/projects', '{'),
  ]
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('etag')).toBeNull()
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  }
})

test('returns errors with or without a message, as specified', async () => {
  expect((await send(`${vault.url}/v1/secrets`)).body).toEqual({ error: 'missing_signature' })
  expect((await send(`${vault.url}/v1/admin/audit`)).body).toEqual({
    error: 'unauthorized',
    message: expect.stringMatching(/token/),
  })
})

test('refuses a large or compressed body', async () => {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' }
  const post = (init: RequestInit) => send(`${vault.url}/v1/admin/projects`, { method: 'POST', ...init })
  expect(error(await post({ headers, body: 'x'.repeat(600_000) }))).toEqual([413, 'payload_too_large'])
  const gzip = { ...headers, 'Content-Encoding': 'gzip' }
  expect(error(await post({ headers: gzip, body: '{}' }))).toEqual([415, 'unsupported_media_type'])
  const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
  expect(error(await post({ headers: form, body: 'name=x' }))).toEqual([415, 'unsupported_media_type'])
})

test('limits fetches per minute for each address across all replicas', async () => {
  const env = { FETCH_RATE_LIMIT: '3' }
  const one = await vault.replica(env)
  const two = await vault.replica(env)
  try {
    const key = await createProject(one.url, 'limited')
    const fetchFrom = (vault: TestVault) =>
      signedSend({ project: 'limited', key, method: 'GET', url: `${vault.url}/v1/secrets` })
    const statuses = []
    for (const vault of [two, two, two]) statuses.push((await fetchFrom(vault)).status)
    expect(statuses).toEqual([200, 200, 200])
    const answer = await fetchFrom(one)
    expect([answer.status, answer.body]).toEqual([429, { error: 'rate_limited' }])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.headers.get('ratelimit')).toContain('r=0')
    const put = await signedSend({
      project: 'limited',
      key,
      method: 'PUT',
      url: `${one.url}/v1/secrets`,
      body: { key: 'k', value: 'v', env: 'e' },
    })
    expect(put.status).toBe(200)
  } finally {
    await one.stop()
    await two.stop()
  }
})

test('blocks a project at an address, and the address after ten times as many failures', async () => {
  const strict = await vault.replica({ SIGNATURE_FAILURE_LIMIT: '3' })
  try {
    const [key, healthy] = [await createProject(strict.url, 'noisy'), await createProject(strict.url, 'healthy')]
    const url = `${strict.url}/v1/secrets`
    const fetchAs = async (project: string, own: Key): Promise<number> =>
      (await signedSend({ project, key: own, method: 'GET', url })).status
    const failures = async (project: string, times: number): Promise<readonly number[]> => {
      const statuses = []
      for (let i = 0; i < times; i++) statuses.push(await fetchAs(project, newKey()))
      return statuses
    }
    expect(await failures('noisy', 5)).toEqual([401, 401, 401, 429, 429])
    const blocked = await signedSend({ project: 'noisy', key, method: 'GET', url })
    expect([blocked.status, blocked.body]).toEqual([429, { error: 'rate_limited' }])
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await admin(strict.url, 'GET', '/projects')).status).toBe(200)
    // A revoked watcher continues without affecting the application at the same address.
    await failures('noisy', 40)
    expect(await fetchAs('healthy', healthy)).toBe(200)
    // Guessed names share a count, and count for the address.
    expect(await failures('unknown', 3)).toEqual([401, 401, 401])
    expect(new Set([...(await failures('unknown', 12)), ...(await failures('another', 12))])).toEqual(new Set([429]))
    expect(await fetchAs('healthy', healthy)).toBe(429)
    strict.advance(61_000)
    expect(await fetchAs('healthy', healthy)).toBe(200)
    expect(await fetchAs('noisy', key)).toBe(200)
  } finally {
    await strict.stop()
  }
})

test('blocks and logs an address that guesses admin tokens', async () => {
  const strict = await vault.replica({ ADMIN_FAILURE_LIMIT: '2', LOG_LEVEL: 'warn' })
  try {
    // A request without a token is not a guess.
    for (let i = 0; i < 5; i++) expect((await send(`${strict.url}/v1/admin/projects`)).status).toBe(401)
    const guess = () => send(`${strict.url}/v1/admin/projects`, { headers: { Authorization: 'Bearer guess' } })
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([401, 401, 429])
    const blocked = await admin(strict.url, 'GET', '/projects')
    expect([blocked.status, blocked.body]).toEqual([429, { error: 'rate_limited' }])
    expect((await send(`${strict.url}/v1/admin/projects`)).status).toBe(429)
    const lines = strict.logged().trimEnd().split('\n')
    const blocks = lines
      .map((line) => JSON.parse(line) as { limit?: string })
      .filter(({ limit }) => limit !== undefined)
    expect(blocks).toEqual([expect.objectContaining({ address: '127.0.0.1', limit: 'admin-failures' })])
  } finally {
    await strict.stop()
  }
})

describe('malformed HTTP', () => {
  /** Sends raw bytes, and reads until the vault closes the connection. */
  function raw(bytes: string): Promise<{ head: string; body: string }> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(vault.url).port), '127.0.0.1', () => socket.write(bytes))
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      socket.on('error', reject)
      socket.on('close', () => {
        const [head = '', body = ''] = text.split('\r\n\r\n')
        resolve({ head, body })
      })
    })
  }

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a method in lower case', 'get /health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET /health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a folded header', 'GET /health HTTP/1.1\r\nHost: x\r\nSignature: a\r\n b\r\n\r\n'],
    ['NUL in a header', 'GET /health HTTP/1.1\r\nHost: x\0\r\n\r\n'],
    ['two lengths', 'PUT /v1/secrets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length and chunks',
      'PUT /v1/secrets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['headers of 20 KiB', `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('answers %s with an error, and closes the connection', async (_name, bytes) => {
    const { head, body } = await raw(bytes)
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(head).toMatch(/Content-Type: application\/json/i)
    expect(head).toMatch(/Cache-Control: no-store/i)
    expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request' })
  })

  test.each([
    ['in the same packet', '@@@\r\n\r\n'],
    ['without an end', '@@@'],
  ])('answers a request before the nonsense after it, %s', async (_when, nonsense) => {
    const { head, body } = await raw(`GET /ready HTTP/1.1\r\nHost: x\r\n\r\n${nonsense}`)
    expect(head).toMatch(/^HTTP\/1\.1 200 /)
    expect(body).toMatch(/^\{"ok":true,.*\}HTTP\/1\.1 400 /s)
  })

  const OFFER = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'

  test.each([
    ['alone', OFFER],
    ['with a body', `${OFFER}Content-Length: 44\r\n`],
  ])('answers an offer of h2c, %s, once over HTTP/1.1', async (_name, fields) => {
    const smuggled = 'GET /ready HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n'
    const { head, body } = await raw(`GET /health HTTP/1.1\r\nHost: x\r\n${fields}\r\n${smuggled}`)
    expect(head).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
    expect(body).toBe('{"ok":true}')
  })

  test.each([101, 1_100])(
    '%i header fields are refused, regardless of their content, and the connection ends',
    async (count) => {
      const { head, body } = await raw(
        `GET /health HTTP/1.1\r\n${'a:\r\n'.repeat(count - 1)}Host: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n`,
      )
      expect(head).toMatch(/^HTTP\/1\.1 400 .*Connection: close/s)
      expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request' })
    },
  )

  test('ignores an unknown expectation', async () => {
    const health = await raw('GET /health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n')
    expect(health.body).toBe('{"ok":true}')
  })

  test('answers /health without Host, and refuses a signed request', async () => {
    const health = await raw('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(health.body).toBe('{"ok":true}')
    const signed = 'Signature: a\r\nSignature-Input: a\r\nSignature-Agent: a\r\nConnection: close\r\n\r\n'
    expect((await raw(`GET /v1/secrets HTTP/1.1\r\n${signed}`)).body).toBe('{"error":"invalid_signature"}')
  })
})

describe('the description of the API', () => {
  const SERVICE = join(import.meta.dirname, '..')

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
      await expect(client.getAll()).rejects.toMatchObject({
        code: error,
        message: expect.not.stringContaining(meaning),
      })
    },
  )
})
