import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { Redis } from 'ioredis'
import { createFlusher, type Flusher, type Ledger } from '../src/accounting/accounting.ts'
import { createAccountingQueue } from '../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../src/accounting/ledger.store.ts'
import { createRedisFunctions } from '../src/redis/functions.redis.ts'
import type { Swarms } from '../src/swarm/swarm.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import { createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { SETTINGS } from './support/swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from './support/swarms.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
let ledger: Ledger
let swarms: TestSwarms
let seeder: TestMember
let leecher: TestMember

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
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
