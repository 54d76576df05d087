import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import {
  type AnnounceParameters,
  announce,
  announceQuery,
  percentBytes,
  type Reply,
  rawGet,
} from './support/announcer.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
/** As in production: behind a proxy, and without private addresses. */
let proxied: TestTracker

beforeAll(async () => {
  proxied = await startTracker({ TRACKER_MODE: 'open', TRUSTED_PROXIES: '127.0.0.1' })
  tracker = await startTracker({
    TRACKER_MODE: 'open',
    ALLOW_PRIVATE_PEERS: 'true',
    ALLOW_IP_PARAM: 'true',
    ANNOUNCE_LIMIT: '60',
  })
})
afterAll(() => Promise.all([tracker.stop(), proxied.stop()]))

let serial = 0
function fresh(): string {
  serial += 1
  return serial.toString(16).padStart(40, '0')
}

function announceFrom(base: string, address: string, parameters: AnnounceParameters): Promise<Reply> {
  return rawGet(base, `/announce?${announceQuery(parameters)}`, { 'x-forwarded-for': address })
}

test('any client may announce any torrent, with or without a passkey', async () => {
  const infoHash = fresh()
  await announce(tracker.url, undefined, { infoHash, left: 0, port: 7001 })
  const reply = await rawGet(tracker.url, `/announce/${'a'.repeat(40)}?${announceQuery({ infoHash, port: 7002 })}`)
  expect(reply.peers).toEqual(['127.0.0.1:7001'])
})

test('address, port and peer id identify a peer', async () => {
  const infoHash = fresh()
  const base = { infoHash, peerId: '-AA0001-abcdefghijkl', port: 7001, ip: '1.2.3.4' }
  await announce(tracker.url, undefined, base)
  await announce(tracker.url, undefined, base)
  await announce(tracker.url, undefined, { ...base, port: 7002 })
  await announce(tracker.url, undefined, { ...base, ip: '1.2.3.5' })
  const reply = await announce(tracker.url, undefined, { ...base, peerId: '-AA0001-bbbbbbbbbbbb' })
  expect(reply.fields['incomplete']).toBe(4)
})

test('no client receives itself, with any keys and peer ids', async () => {
  const infoHash = fresh()
  const base = { infoHash, ip: '1.2.3.4', port: 7001 }
  for (const key of ['one', 'two', 'three']) await announce(tracker.url, undefined, { ...base, key })
  await announce(tracker.url, undefined, { ...base, port: 7002 })
  const reply = await announce(tracker.url, undefined, { ...base, key: 'four' })
  expect(reply.fields['incomplete']).toBe(5)
  expect(reply.peers).toEqual(['1.2.3.4:7002'])
})

test('announces over both families with one key are one peer; with different keys they are two', async () => {
  const infoHash = fresh()
  await announce(tracker.url, undefined, { infoHash, ip: '1.2.3.4', key: 'one' })
  const linked = await announce(tracker.url, undefined, { infoHash, ip: '2a00::1', key: 'one' })
  expect(linked.fields['incomplete']).toBe(1)
  const apart = await announce(tracker.url, undefined, { infoHash, ip: '2a00::1', key: 'two' })
  expect(apart.fields['incomplete']).toBe(2)
})

test('clients that send the same key are different peers, and receive each other', async () => {
  const infoHash = fresh()
  const base = { infoHash, port: 7001, key: '00000000' }
  for (let i = 1; i <= 8; i++)
    await announce(tracker.url, undefined, {
      ...base,
      ip: `1.2.4.${String(i)}`,
      peerId: `-AA0001-abcdefghijk${String(i)}`,
    })
  const reply = await announce(tracker.url, undefined, { ...base, ip: '1.2.4.9', peerId: '-AA0001-abcdefghijk9' })
  expect([reply.fields['incomplete'], reply.peers.length]).toEqual([9, 8])
})

test('a scrape accepts any torrent', async () => {
  const scraped = await rawGet(tracker.url, `/scrape?info_hash=${percentBytes(Buffer.from(fresh(), 'hex'))}`)
  expect(scraped.bytes.toString('latin1')).toContain('d8:completei0e10:downloadedi0e11:downloadersi0e10:incompletei0ee')
  expect((await rawGet(tracker.url, '/scrape')).fields['failure reason']).toBe('A scrape needs an info_hash')
})

test('accounts no transfer, and an empty swarm leaves no key', async () => {
  const infoHash = fresh()
  const redis = new Redis(tracker.redisUrl)
  await announce(tracker.url, undefined, { infoHash, event: 'started' })
  await announce(tracker.url, undefined, { infoHash, event: 'stopped', uploaded: 500 })
  const keys = await redis.keysBuffer('*')
  expect(keys.filter((key) => key.includes(Buffer.from(infoHash, 'hex')))).toEqual([])
  expect(keys.filter((key) => /:(du|dirty|k:\d+)$/.test(key.toString('latin1')))).toEqual([])
  redis.disconnect()
})

test('behind a trusted proxy, a peer has the address that the proxy saw, not a forged one', async () => {
  const infoHash = fresh()
  const seeder = await announceFrom(proxied.url, '9.9.9.9, 1.2.3.4', { infoHash, left: 0, port: 7001 })
  expect(seeder.fields['external ip']).toBe('\x01\x02\x03\x04')
  const leecher = await announceFrom(proxied.url, '2a00::7', { infoHash, port: 7002 })
  expect(leecher.fields['external ip']).toBe(Buffer.from(`2a00${'00'.repeat(13)}07`, 'hex').toString('latin1'))
  expect(leecher.peers).toEqual(['1.2.3.4:7001'])
})

test('a client that is not a trusted proxy has its own address, regardless of headers', async () => {
  const reply = await announceFrom(tracker.url, '1.2.3.4', { infoHash: fresh() })
  expect(reply.fields['external ip']).toBe('\x7f\0\0\x01')
})

test('a peer with a private address is counted, but never returned', async () => {
  const infoHash = fresh()
  const addresses = ['10.0.0.1', '127.0.0.1', '192.168.1.2', 'fd00::1', '::ffff:172.16.0.1', '1.2.3.4', '2a00::1']
  for (const [i, address] of addresses.entries())
    await announceFrom(proxied.url, address, { infoHash, left: 0, port: 7001 + i, peerId: `-AA0001-abcdefghijk${i}` })
  const asker = { infoHash, port: 7100, peerId: '-AA0001-abcdefghijkz' }
  const compact = await announceFrom(proxied.url, '5.6.7.8', asker)
  expect(compact.fields['complete']).toBe(addresses.length)
  expect(compact.peers).toEqual(['1.2.3.4:7006', '2a000000000000000000000000000001:7007'])
  const listed = (await announceFrom(proxied.url, '5.6.7.8', { ...asker, compact: 0 })).bytes.toString('latin1')
  expect([...listed.matchAll(/2:ip\d+:(.+?)7:peer id/g)].map((match) => match[1]).sort()).toEqual([
    '1.2.3.4',
    '2a00::1',
  ])
})

test('the announce limit counts addresses', async () => {
  // Within one window.
  tracker.holdClock()
  const infoHash = fresh()
  const statuses: number[] = []
  for (let i = 0; i < 70; i++) statuses.push((await announce(tracker.url, undefined, { infoHash })).status)
  expect(statuses).toContain(429)
})
