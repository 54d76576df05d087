import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { writeAccounting } from '../support/accounting.ts'
import { announce, percentBytes, type Reply, rawGet } from '../support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from '../support/members.ts'
import { peer, SETTINGS, swarmName } from '../support/swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from '../support/swarms.ts'
import { PASSWORD, startTracker, type TestTracker } from '../support/tracker.ts'

const PEERS = 10_000
const SWARMS = 40

let folder: string
let server: PrivateServer
let redis: Redis
let tracker: TestTracker
let swarms: TestSwarms
let member: TestMember
let alice: { id: string; passkey: string }
let bob: { id: string; passkey: string }
let infoHash: string

beforeAll(async () => {
  folder = temporaryFolder('full')
  server = await startRedis({ dataDir: folder, durable: false })
  redis = new Redis(server.url)
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', AUTH_LIMIT: '50' }, { redisUrl: server.url })
  await tracker.context.useCases.categories.seed()
  swarms = createTestSwarms({ redis, clock: { now: () => tracker.now() }, settings: SETTINGS, random: Math.random })
  member = await createMember(tracker, 'uploader')
  infoHash = (await uploadTorrent(member, 'Torrent of a full Redis')).infoHash
  alice = await createAnnouncer(tracker, 'alice')
  bob = await createAnnouncer(tracker, 'bob')
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
  await server.stop()
  removeTemporaryFolder(folder)
})

async function usedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

/** Lets peers announce, and limits Redis to the memory of half of them. */
async function fill(): Promise<void> {
  const before = await usedMemory()
  const nameOf = (n: number): Buffer => swarmName(n % SWARMS)
  await Promise.all(Array.from({ length: PEERS }, (_, n) => swarms.announce(peer(n + 1, { swarm: nameOf(n) }))))
  await writeAccounting(tracker)
  const used = await usedMemory()
  await redis.config('SET', 'maxmemory', Math.round(before + (used - before) / 2))
}

const seed = (event?: string, uploaded = 0): Promise<Reply> =>
  announce(tracker.url, alice.passkey, { infoHash, left: 0, port: 7001, event, uploaded })

const isReady = async (): Promise<boolean> => (await tracker.client().get('/ready')).status === 200

test('a full Redis: announces are refused as unavailable, stops are not, and the tracker recovers', async () => {
  await seed('started')
  await announce(tracker.url, bob.passkey, { infoHash, port: 7002, event: 'started' })
  expect(await isReady()).toBe(true)
  await fill()

  const refused = await announce(tracker.url, bob.passkey, { infoHash, port: 7002, event: 'started' })
  expect(refused.fields['failure reason']).toBe('The tracker is temporarily unavailable')
  expect(await isReady()).toBe(false)
  const client = tracker.client()
  const signIn = await client.post('/api/auth/login', { username: 'alice', password: PASSWORD })
  expect([signIn.status, signIn.json]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }])
  // The time of a session's last request would be written again now.
  tracker.advance(6 * 60_000)
  expect((await member.client.get('/api/torrents')).status).toBe(200)

  // Operations that free memory continue.
  const stopped = await seed('stopped', 500)
  expect(stopped.fields).toMatchObject({ complete: 0, incomplete: 1 })
  // More than are counted without Redis.
  for (let i = 0; i < 30; i++) expect((await seed('stopped', 500)).fields['failure reason']).toBeUndefined()
  const scraped = await rawGet(
    tracker.url,
    `/scrape/${bob.passkey}?info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`,
  )
  expect(scraped.bytes.toString('latin1')).toContain('8:completei0e')
  await writeAccounting(tracker)
  await expect(tracker.sql('select uploaded from users where id = $1', [alice.id])).resolves.toEqual([
    { uploaded: '500' },
  ])

  tracker.advance((SETTINGS.timeToLive + 120) * 1000)
  await eventually(isReady)
  expect((await seed('started')).fields).toMatchObject({ complete: 1, incomplete: 0 })
  expect(tracker.logged()).not.toMatch(/announce or scrape failed|INTERNAL_ERROR/)
})

test('only a full Redis drops counters, and not while data waits for the database', async () => {
  // A database that the tracker does not write to.
  const other = new Redis(`${server.url}/1`)
  let now = tracker.now()
  const theirs = createTestSwarms({ redis: other, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
  const counters = async (): Promise<number> => (await other.keys('{*}:k:*')).length
  await redis.config('SET', 'maxmemory', 0)
  await theirs.announce(peer(1, { uploaded: 1000 }))
  now += (SETTINGS.timeToLive + 120) * 1000
  await expect(theirs.sweep()).resolves.toBe(0)
  expect(await counters()).toBe(1)

  await redis.config('SET', 'maxmemory', 1)
  await expect(theirs.isFull()).resolves.toBe(true)
  await expect(theirs.sweep()).resolves.toBe(0)
  expect(await counters()).toBe(1)
  await other.del('{a7}:du', '{a7}:dirty')
  await expect(theirs.sweep()).resolves.toBe(1)
  expect(await counters()).toBe(0)
  await redis.config('SET', 'maxmemory', 0)
  other.disconnect()
})
