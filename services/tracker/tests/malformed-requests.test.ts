import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openBodiesIn } from '@vault-and-tracker/rest/testing'
import { describeApi } from '../src/app.ts'
import type { Client } from './support/client.ts'
import { open, readToEnd } from './support/front-and-node.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('admin', 'admin')
})

afterAll(() => tracker.stop())

/** A refusal whose message names the malformed part. */
const refusal = (named: string) => [
  400,
  { error: { code: 'BAD_REQUEST', message: expect.stringMatching(new RegExp(`^${named}`)) as unknown } },
]

/** Sends bytes as JSON with a header that fetch would not send. */
function send(headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<[number | undefined, unknown]> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      `${tracker.url}/api/auth/login`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve([response.statusCode, text === '' ? undefined : JSON.parse(text)]))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

test.each(['gzip', 'deflate', 'br'])('a body that is not in its declared encoding %s gets 400', async (encoding) => {
  const answer = await send({ 'content-encoding': encoding }, Buffer.from('{"username":"a","password":"b"}'))
  expect(answer).toEqual(refusal('The body'))
})

test('a truncated compressed body gets 400, a complete one is read', async () => {
  const whole = gzipSync('{"username":"a","password":"b"}')
  expect(await send({ 'content-encoding': 'gzip' }, whole.subarray(0, -9))).toEqual(refusal('The body'))
  expect(await send({ 'content-encoding': 'gzip' }, whole)).toMatchObject([401, { error: { code: 'UNAUTHORIZED' } }])
})

test('ignores an unknown expectation', async () => {
  const body = Buffer.from('{"username":"a","password":"b"}')
  expect(await send({ expect: 'x' }, body)).toMatchObject([401, { error: { code: 'UNAUTHORIZED' } }])
})

test.each([
  ['/api/torrents?page[]=1', 'page: '],
  ['/api/torrents?sort=size&sort=size', 'sort: '],
  ['/api/torrents?search=%ff', 'query: '],
  ['/api/torrents?x=1&x=2', 'query: '],
  ['/api/torrents?page=1e3', 'page: '],
  ['/api/admin/log?from=2026-01-31T12:00:00Z&to=', 'to: '],
  ['/api/admin/torznab/requests?from=x&to=2026-01-31T12:00:00Z', 'from: '],
])('%s is refused, naming %s', async (path, named) => {
  const answer = await admin.get(path)
  expect([answer.status, answer.json]).toEqual(refusal(named))
})

test.each([
  ['/api/user/me', { statsPublic: true, statsPubic: true }, 'statsPubic: '],
  ['/api/admin/site', { downloadPercent: 100, uploadPercent: 100, 'a secret?': 1 }, '(?!.*secret)The body '],
  ['/api/user/me', { passkeyOpensTorznab: null }, 'passkeyOpensTorznab: '],
  ['/api/user/me', { statsPublic: 'yes' }, 'statsPublic: '],
  ['/api/user/me', [], 'The body '],
])('a change of %s with %j is refused, naming %s', async (path, body, named) => {
  const answer = await admin.patch(path, body)
  expect([answer.status, answer.json]).toEqual(refusal(named))
})

test('an unknown form field is refused, naming it', async () => {
  const answer = await admin.upload(makeTorrent('x'), { category: 'other', categry: 'tv' })
  expect([answer.status, answer.json]).toEqual(refusal('categry: '))
})

test('every object in every body refuses unknown members, except the credentials that browsers write', () => {
  const isCredential = /\/properties\/(securityKey|credential)(\/|$)/
  expect(openBodiesIn(describeApi().paths).filter((path) => !isCredential.test(path))).toEqual([])
})

test.each(['Show.2021.02.31.720p', 'Show.2021.13.45', 'Show.31.02.2021.x264', 'Show.0000.00.00', '2021-02-30'])(
  'accepts the name %s, whose date does not exist',
  async (name) => {
    const answer = await admin.upload(makeTorrent(name), { category: 'other' })
    expect([answer.status, answer.json]).toMatchObject([201, { name, release: { airDate: null } }])
  },
)

// Requests of clients without an account: upgrade offers, many header fields, malformed paths.
const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'

function requestOf(line: string, fields: string, body = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`
}

/** The statuses of all answers that a connection gets until the tracker closes it. */
async function statusesOf(...pieces: readonly string[]): Promise<readonly number[]> {
  const socket = await open(Number(new URL(tracker.url).port))
  // A connection that the tracker leaves open must not delay the test.
  socket.setTimeout(2_000, () => socket.destroy())
  const answers = readToEnd(socket)
  for (const piece of pieces) {
    if (socket.destroyed) break
    await new Promise((resolve) => socket.write(piece, 'latin1', resolve))
  }
  return Array.from((await answers).matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
}

test.each([
  ['in one piece', [requestOf('GET /health', OFFER).repeat(20_000)]],
  ['one by one', Array.from({ length: 1_000 }, () => requestOf('GET /health', OFFER))],
  ['before another request', [requestOf('GET /health', OFFER) + HEALTH]],
])('h2c upgrade offers on one connection, %s, get one HTTP response and end it', async (_name, pieces) => {
  expect(await statusesOf(...pieces)).toEqual([200])
  expect(await statusesOf(requestOf('GET /announce', ''), ...pieces)).toEqual([200, 200])
})

const LOGIN = JSON.stringify({ username: 'nobody', password: 'wrong password' })
const JSON_BODY = `Content-Type: application/json\r\nContent-Length: ${String(LOGIN.length)}\r\n`

test('a body after an h2c upgrade offer is read as a body', async () => {
  expect(await statusesOf(requestOf('POST /api/auth/login', OFFER + JSON_BODY, LOGIN) + HEALTH)).toEqual([401])
  expect(await statusesOf(requestOf('POST /api/auth/login', OFFER + JSON_BODY), LOGIN, HEALTH)).toEqual([401])
  const chunked = `${OFFER}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`
  const chunks = `${LOGIN.length.toString(16)}\r\n${LOGIN}\r\n0\r\n\r\n`
  expect(await statusesOf(requestOf('POST /api/auth/login', chunked, chunks) + HEALTH)).toEqual([401])
})

/** Header fields that make `count` together with Host. */
const fields = (count: number): string => 'a:\r\n'.repeat(count - 1)
const LENGTH = `Content-Length: ${String(HEALTH.length)}\r\n`
const WEBSOCKET = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'

test.each([
  ['an announce', requestOf('GET /announce', fields(101))],
  ['a request', requestOf('GET /health', fields(101))],
  ['a request with a body', requestOf('POST /health', fields(1_002) + LENGTH, HEALTH)],
  ['an offer of h2c', requestOf('GET /health', fields(98) + OFFER)],
  ['an offer of h2c with a body', requestOf('POST /health', fields(1_002) + OFFER + LENGTH, HEALTH)],
  ['an upgrade to a WebSocket', requestOf('GET /announce', fields(98) + WEBSOCKET)],
])('%s with more than 100 header fields gets 431 and ends the connection', async (_name, request) => {
  expect(await statusesOf(request + HEALTH)).toEqual([431])
})

test('accepts 100 header fields', async () => {
  expect(await statusesOf(requestOf('GET /health', `${fields(99)}Connection: close\r\n`))).toEqual([200])
})

test.each(['//', '//x/', '//api/torrents', '//announce', '//example.org/login', 'http://x//login', '///'])(
  'a path that begins with two slashes names nothing: %s',
  async (path) => {
    for (const more of ['Connection: close\r\n', 'Accept: text/html\r\nConnection: close\r\n', WEBSOCKET])
      expect(await statusesOf(requestOf(`GET ${path}`, more))).toEqual([404])
  },
)
