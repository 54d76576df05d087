import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, testRedis } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { createFlusher, type Flusher, type Ledger } from '../../src/accounting/accounting.ts'
import { createAccountingQueue } from '../../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../../src/accounting/ledger.store.ts'
import { createRedisFunctions } from '../../src/redis/functions.redis.ts'
import { announce, percentBytes, rawGet } from '../support/announcer.ts'
import { createAnnouncer, createMember, uploadTorrent } from '../support/members.ts'
import { peer, SETTINGS, seeder, swarmName } from '../support/swarm-peers.ts'
import { createTestSwarms } from '../support/swarms.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

const HOUR_MS = 3_600_000
const AN_HOUR_AHEAD = `data:text/javascript,const%20now=Date.now;Date.now=()=>now()%2B${String(HOUR_MS)}`

let redis: Redis
let world: TestTracker
let right: TrackerProcess
let ahead: TrackerProcess

beforeAll(async () => {
  // A separate database, because the flushers of the trackers would take the batches of the tests.
  redis = new Redis((await testRedis()).url)
  await redis.select(8 + Number(process.env['JEST_WORKER_ID'] ?? 0))
  world = await startTracker({ ALLOW_PRIVATE_PEERS: 'true' })
  await world.context.useCases.categories.seed()
  const environment = {
    DATABASE_URL: world.database.appUrl,
    REDIS_URL: world.redisUrl,
    // A peer lives for 35 minutes.
    ANNOUNCE_INTERVAL: '900',
    MIN_ANNOUNCE_INTERVAL: '1',
  }
  right = await startTrackerProcess(environment)
  ahead = await startTrackerProcess({ ...environment, NODE_OPTIONS: `--import=${AN_HOUR_AHEAD}` })
})
afterAll(async () => {
  await Promise.all([right.process.stop(), ahead.process.stop()])
  redis.disconnect()
  await world.stop()
})

/** A flusher on a clock that the test moves, and the uploads that it wrote. */
function flusherAt(clock: { now: () => number }): { flusher: Flusher; uploads: number[] } {
  const uploads: number[] = []
  const ledger: Ledger = {
    write: (batches) => {
      uploads.push(...batches.flatMap(({ deltas }) => deltas.map(({ actualUp }) => actualUp)))
      return Promise.resolve([])
    },
    storedCounts: () => Promise.resolve([]),
    deleteBatchLog: () => Promise.resolve(),
    deleteDays: () => Promise.resolve(),
  }
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger,
    count: (names) => Promise.resolve(names.map(() => ({ complete: 0, incomplete: 0, paused: 0, completed: 0 }))),
    clock,
    settleSeconds: 3,
    onCompleted: () => Promise.resolve(),
    onError: (error) => {
      throw error
    },
  })
  return { flusher, uploads }
}

test.each([
  ['an hour ahead', HOUR_MS],
  ['three weeks ahead', 500 * HOUR_MS],
  ['an hour behind', -HOUR_MS],
])('a batch taken by a process %s is written three seconds after another process sees it', async (_what, off) => {
  await redis.flushdb()
  let now = Date.now()
  const swarms = createTestSwarms({ redis, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
  await swarms.announce(peer(1))
  const other = flusherAt({ now: () => now + off })
  await expect(other.flusher.flush()).resolves.toEqual({ written: 0, waiting: 1, failed: 0 })
  const own = flusherAt({ now: () => now })
  await expect(own.flusher.flush()).resolves.toEqual({ written: 0, waiting: 1, failed: 0 })
  now += 3_000
  await expect(own.flusher.flush()).resolves.toEqual({ written: 1, waiting: 0, failed: 0 })
  expect(own.uploads).toEqual([0])
})

test('a clock that goes back by an hour neither loses nor delays credit', async () => {
  await redis.flushdb()
  let now = Date.now()
  const swarms = createTestSwarms({ redis, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
  await swarms.announce(seeder(1))
  now -= HOUR_MS
  const back = await swarms.announce(seeder(1, { kind: 'regular', uploaded: 5e9 }))
  expect(back).toMatchObject({ status: 'accepted', implausible: false, complete: 1 })
  await expect(swarms.count([{ name: swarmName(0xa7), completed: 0 }])).resolves.toMatchObject([{ complete: 1 }])
  const { flusher, uploads } = flusherAt({ now: () => now })
  await flusher.flush()
  now += 3_000
  await flusher.flush()
  expect(uploads).toEqual([5e9])
})

test('a process a year ahead does not forget written batches', async () => {
  const written = randomUUID()
  await world.sql("insert into flush_log values ($1, now()), (gen_random_uuid(), now() - interval '31 days')", [
    written,
  ])
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger: createLedger(world.db),
    count: () => Promise.resolve([]),
    clock: { now: () => Date.now() + 365 * 24 * HOUR_MS },
    settleSeconds: 3,
    onCompleted: () => Promise.resolve(),
    onError: () => undefined,
  })
  await flusher.reconcile()
  const left = "select id from flush_log where id = $1 or flushed_at < now() - interval '30 days'"
  await expect(world.sql(left, [written])).resolves.toEqual([{ id: written }])
})

test('a process an hour ahead does not affect the others', async () => {
  const uploader = await createMember(world, 'uploader')
  const { infoHash } = await uploadTorrent(uploader, 'Torrent of two clocks')
  const alice = await createAnnouncer(world, 'alice')
  const bob = await createAnnouncer(world, 'bob')
  const countsAt = async ({ url }: TrackerProcess): Promise<string> => {
    const query = `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
    return (await rawGet(url, `/scrape/${bob.passkey}?${query}`)).bytes.toString('latin1')
  }
  await announce(right.url, alice.passkey, { infoHash, left: 0, port: 7001, event: 'started' })
  const found = await announce(ahead.url, bob.passkey, { infoHash, port: 7002, event: 'started' })
  expect([found.peers, found.fields]).toMatchObject([['127.0.0.1:7001'], { complete: 1, incomplete: 1 }])
  for (const tracker of [right, ahead]) expect(await countsAt(tracker)).toMatch(/completei1e.*incompletei1e/)

  // Bob's last announce was at the other clock: it is neither too soon until then, nor implausible.
  let uploaded = 0
  await eventually(async () => {
    uploaded += 1000
    const reply = await announce(right.url, bob.passkey, { infoHash, port: 7002, uploaded })
    expect(reply.fields['failure reason']).toBeUndefined()
    // Longer than the minimum interval, and far from the limit of announces.
    await sleep(1_100)
    const rows = await world.sql('select 1 from users where id = $1 and uploaded_actual >= 2000', [bob.id])
    return rows.length === 1
  })
  expect((await announce(right.url, alice.passkey, { infoHash, left: 0, port: 7001 })).fields).toMatchObject({
    complete: 1,
    incomplete: 1,
  })
})
