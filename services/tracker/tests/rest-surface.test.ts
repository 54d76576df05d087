import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { routesOf } from '@vault-and-tracker/rest/testing'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createApp, describeApi, ENDPOINTS } from '../src/app.ts'
import type { Client } from './support/client.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let member: Client
let moderator: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  member = await tracker.signedIn('member')
  moderator = await tracker.signedIn('moderator', 'moderator')
})

afterAll(() => tracker.stop())

const concrete = (path: string) => path.replace(':id', '0190b6a0-0000-7000-8000-000000000000')
const send = (client: Client, endpoint: { method: string; path: string }) =>
  client.send(endpoint.method, concrete(endpoint.path), {
    headers: { 'content-type': 'application/json' },
    ...(endpoint.method !== 'GET' && { body: '{}' }),
  })

test('only setup, registration, sign-in with its second factor, links sent by email, categories and the site are public', () => {
  const open = ENDPOINTS.filter(({ access }) => access === 'anyone').map(({ method, path }) => `${method} ${path}`)
  expect(open.toSorted()).toEqual([
    'GET /api/auth/second-factor',
    'GET /api/categories',
    'GET /api/site',
    'GET /api/webhooks/key',
    'GET /autobrr.yaml',
    'POST /api/auth/email',
    'POST /api/auth/login',
    'POST /api/auth/password',
    'POST /api/auth/password-link',
    'POST /api/auth/register',
    'POST /api/auth/second-factor',
    'POST /api/setup',
  ])
})

test.each(ENDPOINTS.filter(({ access }) => access !== 'anyone').map((endpoint) => [endpoint.method, endpoint.path]))(
  '%s %s returns 401 without credentials',
  async (method = '', path = '') => {
    const answer = await send(tracker.client(), { method, path })
    expect([answer.status, answer.member('error', 'code')]).toEqual([401, 'UNAUTHORIZED'])
  },
)

test.each(
  ENDPOINTS.filter(({ access }) => access === 'moderator' || access === 'admin').map((endpoint) => [
    endpoint.method,
    endpoint.path,
  ]),
)('%s %s returns 403 for a member', async (method = '', path = '') => {
  const answer = await send(member, { method, path })
  expect([answer.status, answer.member('error', 'code')]).toEqual([403, 'FORBIDDEN'])
})

test.each(ENDPOINTS.filter(({ access }) => access === 'admin').map((endpoint) => [endpoint.method, endpoint.path]))(
  '%s %s returns 403 for a moderator',
  async (method = '', path = '') => {
    expect((await send(moderator, { method, path })).status).toBe(403)
  },
)

test.each([
  ['GET', '/api'],
  ['GET', '/api/'],
  ['GET', '/api/torrent'],
  ['GET', '/api/torrents/'],
  ['GET', '/API/torrents'],
  ['POST', '/nothing'],
  ['PUT', '/api/nothing'],
])('%s %s returns 404 with an error body', async (method, path) => {
  const answer = await member.send(method, path)
  expect(answer.status).toBe(404)
  expect(answer.json).toMatchObject({ error: { code: 'NOT_FOUND' } })
})

test.each([
  ['PUT', '/api/torrents', 'GET, HEAD, POST'],
  ['OPTIONS', '/api/torrents', 'GET, HEAD, POST'],
  ['GET', '/api/auth/login', 'POST'],
  ['POST', '/api/user/me', 'GET, HEAD, PATCH'],
  ['PROPFIND', '/api/categories', 'GET, HEAD'],
  ['POST', '/health', 'GET, HEAD'],
])('%s %s returns 405 with an Allow header', async (method, path, allow) => {
  const answer = await member.send(method, path)
  expect([answer.status, answer.member('error', 'code'), answer.headers.get('allow')]).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    allow,
  ])
})

test('an undecodable path returns 400', async () => {
  const answer = await member.get('/api/torrents/%E0%A4%A')
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
})

test.each(['{', '[1', '"text"', 'null', '', '{"username":1,"password":{}}'])('the body %j gets 400', async (body) => {
  const answer = await tracker
    .client()
    .send('POST', '/api/auth/login', { body, headers: { 'content-type': 'application/json' } })
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
  'a JSON endpoint answers 415 to %s',
  async (type) => {
    const body = JSON.stringify({ username: 'member', password: PASSWORD })
    const answer = await tracker.client().send('POST', '/api/auth/login', { body, headers: { 'content-type': type } })
    expect([answer.status, answer.member('error', 'code')]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  },
)

test('an upload that is not a form gets 415', async () => {
  const answer = await member.send('POST', '/api/torrents', {
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.status).toBe(415)
})

test('a malformed form gets 400', async () => {
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
    const answer = await member.send('POST', '/api/torrents', {
      body: '--x\r\nbroken',
      headers: { 'content-type': type },
    })
    expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
  }
})

test('bodies over their limits get 413', async () => {
  const json = await tracker.client().post('/api/auth/login', { username: 'member', password: 'x'.repeat(200_000) })
  expect([json.status, json.member('error', 'code')]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  const file = await member.upload(Buffer.alloc(10 * 1024 * 1024 + 1), { category: 'other' })
  expect([file.status, file.member('error', 'code')]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  const field = await member.upload(undefined, { description: 'x'.repeat(100_000) })
  expect(field.status).toBe(413)
})

test('a truncated upload changes nothing and is not a server error', async () => {
  const { port, hostname } = new URL(tracker.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /api/torrents HTTP/1.1\r\nhost: x\r\ncookie: session=${member.cookie}\r\ncontent-length: 5000\r\n` +
      'content-type: multipart/form-data; boundary=x\r\n\r\n' +
      '--x\r\ncontent-disposition: form-data; name="torrent"; filename="t"\r\n\r\nhalf of it',
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect((await member.get('/api/torrents')).json).toMatchObject({ total: 0 })
  expect(tracker.logged()).not.toContain('request failed')
})

test('a file in an unexpected field gets 400', async () => {
  const form = new FormData()
  form.append('other', new Blob(['x']), 'x.torrent')
  const answer = await member.send('POST', '/api/torrents', { body: form })
  expect([answer.status, answer.member('error', 'code')]).toEqual([400, 'BAD_REQUEST'])
})

test.each(['/api/user/me', '/api/categories', '/api/nothing', '/api/torrents?limit=0'])(
  '%s is never stored, framed or sniffed, and does not reveal the software',
  async (path) => {
    const { headers } = await member.get(path)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const name of ['x-powered-by', 'server', 'etag']) expect(headers.get(name)).toBeNull()
  },
)

test('HEAD is GET without the body', async () => {
  const answer = await member.send('HEAD', '/api/categories')
  expect([answer.status, answer.text]).toEqual([200, ''])
})

test.each([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'same-origin' }, 200],
  [{ 'sec-fetch-site': 'none' }, 200],
  [{ origin: 'http://evil.test' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: 'http://tracker.test:81' }, 403],
  [{ origin: 'http://tracker.test' }, 200],
  [{}, 200],
])('a write with the headers %j is %i', async (headers: Record<string, string>, status) => {
  // A socket of our own, since fetch does not let these headers through.
  const { port, hostname } = new URL(tracker.url)
  const socket = connect(Number(port), hostname)
  const body = '{"statsPublic":true}'
  const lines = Object.entries({
    host: 'tracker.test',
    connection: 'close',
    cookie: `session=${member.cookie}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`PATCH /api/user/me HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  expect(Buffer.concat(chunks).toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})

test('health, readiness and metrics are plain', async () => {
  const client = tracker.client()
  expect((await client.get('/health')).json).toEqual({ ok: true })
  expect((await client.get('/ready')).json).toMatchObject({ ok: true, checks: { postgres: 'ok', redis: 'ok' } })
  expect((await client.get('/metrics')).text).toContain('route="/api/torrents/:id/download"')
})

const readText = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

test('openapi.json matches the schemas; `pnpm --filter tracker openapi` regenerates it', () => {
  const committed: unknown = JSON.parse(readText('openapi.json'))
  expect(committed).toEqual(JSON.parse(JSON.stringify(describeApi())))
})

test('openapi.json describes exactly the served routes', () => {
  const app = createApp(tracker.context, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  // Torznab is described by its own caps, and UNIT3D by its own source.
  const elsewhere = /^\/(docs|openapi\.json$|api\/torznab|unit3d)/
  const served = routesOf(app).filter((path) => !elsewhere.test(path))
  expect(served).toEqual(Object.keys(describeApi().paths).toSorted())
})
