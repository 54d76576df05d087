import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually, TRIALS } from '@vault-and-tracker/dev-env'
import fc from 'fast-check'
import { metricOf } from './support/metrics.ts'
import { binary, connectSocket, makeOffers, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const INFO_HASH = 'ce'.repeat(20)
const NOTHING = '\0'.repeat(20)

let tracker: TestTracker
const open: SocketClient[] = []

beforeAll(async () => {
  tracker = await startTracker({
    TRACKER_MODE: 'open',
    ANNOUNCE_LIMIT: '0',
    WS_ORIGINS: 'https://site.example',
    WS_SOCKETS_PER_ADDRESS: '20',
    WS_TORRENTS_PER_SOCKET: '3',
  })
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()))
})
afterAll(() => tracker.stop())

async function connect(options: Parameters<typeof connectSocket>[2] = {}): Promise<SocketClient> {
  const client = await connectSocket(tracker.url, undefined, { origin: 'https://site.example', ...options })
  open.push(client)
  return client
}

const valid = { action: 'announce', info_hash: binary(INFO_HASH), peer_id: 'p'.repeat(20), left: 5 }

test.each<[string, unknown, string]>([
  ['no JSON', '{', 'Invalid message'],
  ['null', null, 'Invalid message'],
  ['a list', [], 'Invalid message'],
  ['no action', { info_hash: binary(INFO_HASH) }, 'Invalid message'],
  ['deep nesting', '['.repeat(30_000), 'Invalid message'],
  ['no info hash', { action: 'announce' }, 'Missing info_hash'],
  ['a number as info hash', { ...valid, info_hash: 5 }, 'Invalid info_hash'],
  ['a character above U+00FF', { ...valid, info_hash: 'ā'.repeat(20) }, 'Invalid info_hash'],
  ['a lone surrogate', { ...valid, peer_id: '\ud800'.repeat(20) }, 'Invalid peer_id'],
  ['a short peer id', { ...valid, peer_id: 'x' }, 'Invalid peer_id'],
  ['negative bytes', { ...valid, uploaded: -1 }, 'Invalid uploaded'],
  ['bytes as text', { ...valid, downloaded: '5' }, 'Invalid downloaded'],
  ['a fraction left', { ...valid, left: 0.5 }, 'Invalid left'],
  ['an unknown event', { ...valid, event: 'begun' }, 'Invalid event'],
  ['numwant as text', { ...valid, numwant: 'x' }, 'Invalid numwant'],
  ['offers that are null', { ...valid, offers: [null] }, 'Invalid offers'],
  ['offers without an offer', { ...valid, offers: [{}] }, 'Invalid offers'],
  ['an offer without a description', { ...valid, offers: [{ offer: {}, offer_id: 'x'.repeat(20) }] }, 'Invalid offers'],
  ['an answer without a recipient', { ...valid, answer: { type: 'answer', sdp: '' } }, 'Invalid answer'],
  ['a scrape of a number', { action: 'scrape', info_hash: 5 }, 'Invalid info_hash'],
  [
    'a scrape of too many',
    { action: 'scrape', info_hash: Array(75).fill('x'.repeat(20)) },
    'A scrape takes at most 74',
  ],
])('replies to %s with a failure', async (_what, message, reason) => {
  const client = await connect()
  const reply = await client.next(() => client.send(message))
  expect(reply['failure reason']).toMatch(new RegExp(`^${reason}`))
  expect(reply['action']).toMatch(/^(announce|scrape)$/)
  expect(reply['info_hash']).toHaveLength(20)
  await expect(client.announce(INFO_HASH)).resolves.toHaveProperty('complete')
})

test('replies to unreadable messages with an info hash of zeros, and closes with 1008 at the twentieth', async () => {
  const client = await connect()
  for (let i = 0; i < 20; i++) client.send(Buffer.from('x').toString())
  await eventually(() => client.closeCode() !== undefined)
  expect(client.closeCode()).toBe(1008)
  expect(client.received).toHaveLength(20)
  expect(client.received[0]).toMatchObject({ action: 'announce', info_hash: NOTHING })
})

test('a binary frame is malformed; a message above 64 KiB closes with 1009', async () => {
  const client = await connect()
  const reply = await client.next(() => client.socket.send(Buffer.from(JSON.stringify(valid))))
  expect(reply['failure reason']).toMatch(/^Invalid message/)
  client.send('x'.repeat(65_537))
  await eventually(() => client.closeCode() === 1009)
})

test('refuses more torrents than allowed, and introduces peers of one address in open mode', async () => {
  const [a, b] = [await connect(), await connect()]
  for (const byte of ['01', '02', '03']) await a.announce(byte.repeat(20), { event: 'started' })
  expect((await a.announce('04'.repeat(20)))['failure reason']).toBe('Too many torrents on one connection')
  await b.announce('01'.repeat(20), { offers: makeOffers(1) })
  await eventually(() => a.offersReceived().length === 1)
})

test('another origin, another path and too many connections are refused at the upgrade', async () => {
  await expect(connect({ origin: 'https://other.example' })).rejects.toThrow('403')
  await expect(connect({ target: '/api/torrents' })).rejects.toThrow('404')
  for (let i = 0; i < 20; i++) await connect()
  await expect(connect()).rejects.toThrow('429')
})

test('replies over HTTP to a request that offers another upgrade', async () => {
  const message = request(`${tracker.url}/health`, { headers: { connection: 'Upgrade', upgrade: 'h2c' }, agent: false })
  message.end()
  const [response] = (await once(message, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  expect(response.statusCode).toBe(200)
})

test('throttles a fast client without losing messages', async () => {
  const client = await connect()
  await client.announce(INFO_HASH, { event: 'started' })
  const again = { ...valid, peer_id: client.peerId }
  for (let i = 0; i < 239; i++) client.send(again)
  await eventually(() => client.received.length === 240)
  // Messages that arrived together are answered at once. Later ones wait, without delaying other clients.
  client.send(again)
  const other = await connect()
  await other.announce(INFO_HASH)
  expect(client.received).toHaveLength(240)
  await eventually(() => client.received.length === 241)
})

test('hundreds of half-open upgrades end, and the tracker remains available', async () => {
  const { hostname, port } = new URL(tracker.url)
  const sockets = Array.from({ length: 200 }, () => connectTcp(Number(port), hostname))
  for (const socket of sockets) {
    socket.on('error', () => undefined).resume()
    socket.write('GET /announce HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n')
  }
  const client = await connect()
  await expect(client.announce(INFO_HASH)).resolves.toHaveProperty('complete')
  await eventually(() => sockets.every((socket) => socket.closed), 90_000)
})

/** The value as JSON, if possible. */
function written(message: unknown): string {
  try {
    return JSON.stringify(message)
  } catch {
    return ''
  }
}

test('random messages neither stop the tracker nor reach other peers', async () => {
  const bystander = await connect()
  await bystander.announce(INFO_HASH, { event: 'started' })
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    fc.record(
      {
        action: fc.oneof(fc.constant('announce'), fc.constant('scrape'), fc.anything()),
        info_hash: fc.oneof(fc.constant(binary(INFO_HASH)), fc.anything()),
        peer_id: fc.oneof(fc.constant('f'.repeat(20)), fc.anything()),
        to_peer_id: fc.oneof(fc.constant(bystander.peerId), fc.anything()),
        offer_id: fc.oneof(fc.constant('o'.repeat(20)), fc.anything()),
        answer: fc.oneof(fc.constant({ type: 'answer', sdp: '' }), fc.anything()),
        offers: fc.oneof(fc.constant([null]), fc.array(fc.anything()), fc.anything()),
        left: fc.anything(),
        event: fc.anything(),
        numwant: fc.anything(),
      },
      { requiredKeys: ['action'] },
    ),
  )
  const messages = fc.sample(anything, 300 * TRIALS)
  while (messages.length > 0) {
    const client = await connect()
    for (const message of messages.splice(0, 15)) client.send(typeof message === 'string' ? message : written(message))
    // Its answer comes after the others, unless one of the others ended the connection.
    await client.announce(INFO_HASH).catch(() => undefined)
    await client.close()
  }
  await expect((await connect()).announce(INFO_HASH)).resolves.toHaveProperty('complete')
  expect(bystander.offersReceived()).toEqual([])
  expect(bystander.answersReceived()).toEqual([])
  expect(await metricOf(tracker, 'tracker_websocket_messages_total{kind="malformed"}')).toBeGreaterThan(100)
})
