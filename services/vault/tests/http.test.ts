import { afterAll, beforeAll, expect, test } from '@jest/globals'
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
