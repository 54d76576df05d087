import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { newId } from 'service-kit/ids'
import { createFlusher, type Flusher, type Ledger } from '../src/accounting/accounting.ts'
import { createAccountingQueue } from '../src/accounting/accounting-queue.store.ts'
import { createLedger } from '../src/accounting/ledger.store.ts'
import { createRedisSwarms } from '../src/swarm/swarm.store.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce } from './support/announcer.ts'
import { createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { TERMS } from './support/swarm-peers.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let redis: Redis
let ledger: Ledger
let flusher: Flusher
let seeder: TestMember
let leecher: TestMember

beforeAll(async () => {
  tracker = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  await tracker.context.categories.seed()
  redis = new Redis(tracker.redis.url)
  ledger = createLedger(tracker.context.db)
  const clock = { now: Date.now }
  const swarms = createRedisSwarms({ redis, clock, terms: TERMS, random: Math.random })
  flusher = createFlusher({
    queue: createAccountingQueue(redis),
    ledger,
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: 0,
    failed: (error) => {
      throw error
    },
  })
  seeder = await createMember(tracker, 'seeder')
  leecher = await createMember(tracker, 'leecher')
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
})

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

/** Removes what Redis has under the tag of a torrent. */
async function forgetSwarm({ infoHash }: Torrent): Promise<void> {
  const removed = await redis.del(await redis.keysBuffer(`{${infoHash.slice(0, 2)}}:*`))
  expect(removed).toBeGreaterThan(0)
}

function countsOf({ id }: Torrent): Promise<readonly Record<string, unknown>[]> {
  return tracker.sql('select seeders, leechers from torrent_stats where torrent_id = $1', [id])
}

test('counts of a swarm reach the database, as it grows and as it shrinks', async () => {
  const torrent = await countedTorrent('Counted torrent')
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 1, leechers: 1 }])
  const listed = await seeder.client.get(`/api/torrents/${torrent.id}`)
  expect(listed.json).toMatchObject({ seeders: 1, leechers: 1, completed: 0 })
  await announce(tracker.url, leecher.passkey, { infoHash: torrent.infoHash, event: 'stopped' })
  await writeAccounting(tracker)
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 1, leechers: 0 }])
})

test('counts of swarms that Redis lost are corrected, the others are left alone', async () => {
  const lost = await countedTorrent('Torrent whose swarm is lost')
  const back = await countedTorrent('Torrent whose swarm came back')
  for (const torrent of [lost, back]) await forgetSwarm(torrent)
  await joinBoth(back)
  await flusher.reconcile()
  await expect(countsOf(lost)).resolves.toEqual([{ seeders: 0, leechers: 0 }])
  await expect(countsOf(back)).resolves.toEqual([{ seeders: 1, leechers: 1 }])
})

test('a batch that comes a second time, from a slower process, does not bring its older counts back', async () => {
  const torrent = await countedTorrent('Torrent of two processes')
  const name = Buffer.from(torrent.infoHash, 'hex')
  const id = newId()
  await ledger.write([{ id, deltas: [], counts: [{ name, complete: 7, incomplete: 0 }] }])
  await ledger.write([{ id, deltas: [], counts: [{ name, complete: 6, incomplete: 0 }] }])
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 7, leechers: 0 }])
})

test('a correction yields to counts that were written since it read the old ones', async () => {
  const torrent = await countedTorrent('Torrent that changes meanwhile')
  const name = Buffer.from(torrent.infoHash, 'hex')
  const was = (await ledger.counted()).find((counted) => counted.name.equals(name))
  if (was === undefined) throw new Error('the torrent was not counted')
  await ledger.write([{ id: newId(), deltas: [], counts: [{ name, complete: 3, incomplete: 2 }] }])
  await ledger.correct([{ name, was, is: { complete: 0, incomplete: 0 } }])
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 3, leechers: 2 }])
  await ledger.correct([{ name, was: { complete: 3, incomplete: 2 }, is: { complete: 0, incomplete: 1 } }])
  await expect(countsOf(torrent)).resolves.toEqual([{ seeders: 0, leechers: 1 }])
})
