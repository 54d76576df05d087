import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { open, readToEnd } from './support/front-and-node.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

// Requests of clients without an account: upgrade offers, many header fields, malformed paths.
let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
})
afterAll(() => tracker.stop())

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
