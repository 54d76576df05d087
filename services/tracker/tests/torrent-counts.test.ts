import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { Redis } from 'ioredis'
import { createFlusher, type Flusher, type Ledger } from '../src/accounting/accounting.ts'
import { createAccountingQueue } from '../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../src/accounting/ledger.store.ts'
import { createRedisFunctions } from '../src/redis/functions.redis.ts'
import type { Swarms } from '../src/swarm/swarm.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { SETTINGS } from './support/swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from './support/swarms.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const USERS = 3
const CLIENTS = 2
const STEPS = 150

let tracker: TestTracker
let redis: Redis
let ledger: Ledger
let swarms: TestSwarms
let seeder: TestMember
let leecher: TestMember

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0' })
  await tracker.context.useCases.categories.seed()
  redis = new Redis(tracker.redisUrl)
  ledger = createLedger(tracker.db)
  swarms = createTestSwarms({ redis, clock: { now: Date.now }, settings: SETTINGS, random: Math.random })
  seeder = await createMember(tracker, 'seeder')
  leecher = await createMember(tracker, 'leecher')
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

function flusherWith(count: Swarms['count']): Flusher {
  return createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger,
    count,
    clock: { now: Date.now },
    settleSeconds: 0,
    onCompleted: () => Promise.resolve(),
    onError: (error) => {
      throw error
    },
  })
}

type Torrent = { readonly id: string; readonly infoHash: string }

/** A torrent with a seeder and a leecher, whose counts were written. */
async function countedTorrent(name: string): Promise<Torrent> {
  const torrent = await uploadTorrent(seeder, name)
  await joinBoth(torrent)
  return torrent
}

async function joinBoth(torrent: Torrent): Promise<void> {
  await announce(tracker.url, seeder.passkey, { infoHash: torrent.infoHash, left: 0, event: 'started' })
  await announce(tracker.url, leecher.passkey, { infoHash: torrent.infoHash, event: 'started' })
  await writeAccounting(tracker)
}

/** Removes all keys in Redis with the tags of torrents. Two torrents may have the same tag. */
async function forgetSwarms(...torrents: readonly Torrent[]): Promise<void> {
  for (const tag of new Set(torrents.map(({ infoHash }) => infoHash.slice(0, 2)))) {
    const removed = await redis.del(await redis.keysBuffer(`{${tag}}:*`))
    expect(removed).toBeGreaterThan(0)
  }
}

function countsOf({ id }: Torrent): Promise<readonly Record<string, unknown>[]> {
  return tracker.sql('select seeders, leechers from torrent_stats where torrent_id = $1', [id])
}

test('the counts of a growing and shrinking swarm reach the database', async () => {
  const torrent = await countedTorrent('Counted torrent')
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 1, leechers: 1 }])
  const listed = await seeder.client.get(`/api/torrents/${torrent.id}`)
  expect(listed.json).toMatchObject({ seeders: 1, leechers: 1, completed: 0 })
  await announce(tracker.url, leecher.passkey, { infoHash: torrent.infoHash, event: 'stopped' })
  await writeAccounting(tracker)
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 1, leechers: 0 }])
})

test('corrects only the counts of swarms that Redis has lost', async () => {
  const lost = await countedTorrent('Torrent whose swarm is lost')
  const back = await countedTorrent('Torrent whose swarm came back')
  await forgetSwarms(lost, back)
  await joinBoth(back)
  await flusherWith((names) => swarms.count(names)).reconcile()
  await writeAccounting(tracker)
  await expect(countsOf(lost)).resolves.toEqual([{ seeders: 0, leechers: 0 }])
  await expect(countsOf(back)).resolves.toEqual([{ seeders: 1, leechers: 1 }])
})

test('a batch repeated by a slower process does not restore older counts', async () => {
  const torrent = await countedTorrent('Torrent of two processes')
  const name = Buffer.from(torrent.infoHash, 'hex')
  const id = newId()
  await ledger.write([{ id, deltas: [], counts: [{ name, complete: 7, incomplete: 0 }] }])
  await ledger.write([{ id, deltas: [], counts: [{ name, complete: 6, incomplete: 0 }] }])
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 7, leechers: 0 }])
})

test('a swarm that fills again during a reconciliation keeps its counts', async () => {
  const torrent = await countedTorrent('Torrent that comes back meanwhile')
  await forgetSwarms(torrent)
  const flusher = flusherWith(async (names) => {
    const counts = await swarms.count(names)
    await joinBoth(torrent)
    return counts
  })
  await flusher.reconcile()
  await writeAccounting(tracker)
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 1, leechers: 1 }])
})

test('does not count deleted torrents', async () => {
  const torrent = await countedTorrent('Torrent that is deleted')
  const isCounted = async () =>
    (await ledger.storedCounts()).some(({ name }) => name.toString('hex') === torrent.infoHash)
  await expect(isCounted()).resolves.toBe(true)
  await seeder.client.delete(`/api/torrents/${torrent.id}`)
  await expect(isCounted()).resolves.toBe(false)
})

/** The counts of a torrent in the announce, the scrape and the REST API. */
async function snatchesOf({ id, infoHash }: { id: string; infoHash: string }): Promise<readonly unknown[]> {
  const { passkey } = seeder
  // A stop of an unknown peer, which reads the counts without changing them.
  const stopped = await announce(tracker.url, passkey, { infoHash, event: 'stopped' })
  const query = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  const scraped = (await rawGet(tracker.url, `/scrape/${passkey}?${query}`)).bytes.toString('latin1')
  const torrent = await seeder.client.get(`/api/torrents/${id}`)
  return [
    stopped.fields['downloaded'],
    Number(/10:downloadedi(\d+)e/.exec(scraped)?.[1]),
    (torrent.json as { completed: number }).completed,
  ]
}

test.each(Array.from({ length: TRIALS }, (_, i) => i + 1))(
  'announce, scrape and REST agree on the snatches of two torrents, seed %i',
  async (seed) => {
    const users = await Promise.all(
      Array.from({ length: USERS }, (_, i) => createAnnouncer(tracker, `user-${String(seed)}-${String(i)}`)),
    )
    const random = randomFrom(seed)
    const pick = (below: number): number => Math.floor(random() * below)
    const torrents = [
      await uploadTorrent(seeder, `Model torrent ${String(seed)} a`),
      await uploadTorrent(seeder, `Model torrent ${String(seed)} b`),
    ]
    /** Who had something left, and who completed after that, as plainly as it can be said. */
    const leeched = new Set<string>()
    const snatched = new Set<string>()
    let accepted = 0
    const check = async (): Promise<void> => {
      await writeAccounting(tracker)
      for (const [t, torrent] of torrents.entries()) {
        const count = [...snatched].filter((each) => each.startsWith(`${String(t)} `)).length
        await eventually(async () => (await snatchesOf(torrent)).every((said) => said === count), 10_000).catch(
          () => undefined,
        )
        expect(await snatchesOf(torrent)).toEqual([count, count, count])
      }
    }
    for (let step = 0; step < STEPS; step++) {
      const [t, u, c] = [pick(torrents.length), pick(USERS), pick(CLIENTS)]
      const infoHash = torrents[t]?.infoHash ?? ''
      const who = `${String(t)} ${String(u)}`
      const event = [undefined, 'started', 'completed', 'completed', 'stopped', 'paused'][pick(6)]
      const left = random() < 0.5 ? 0 : 1000
      tracker.advance(pick(4) === 0 ? pick(8_000_000) : pick(60_000))
      const peerId = `-MM0001-client-${String(u)}-${String(c)}-x`
      const reply = await announce(tracker.url, users[u]?.passkey, { infoHash, peerId, event, left, port: 7000 + u })
      expect(reply.fields['failure reason']).toBeUndefined()
      if (reply.fields['warning message'] === undefined) accepted += 1
      if (left > 0 && event !== 'stopped') leeched.add(who)
      if (event === 'completed' && left === 0 && leeched.has(who)) snatched.add(who)
      if (random() < 0.08) await check()
    }
    await check()
    expect(accepted).toBeGreaterThan(STEPS / 2)
    expect(snatched.size).toBeGreaterThan(0)
  },
)
