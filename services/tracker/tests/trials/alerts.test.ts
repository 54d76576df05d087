import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  type AlertRecorder,
  type DurableServers,
  eventually,
  recordAlerts,
  startDurableServers,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import pg from 'pg'
import { announce, rawGet } from '../support/announcer.ts'
import { createMember, type TestMember, uploadTorrent } from '../support/members.ts'
import { metricOf } from '../support/metrics.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'

/** Longer than any window of the rules that a test leaves something in, in minutes. */
const QUIET = 20
const POOL_SIZE = 4
const COUNTED_EVERY_MS = 30_000
/** Next to it the buffers of connections, whose sizes vary, are a small part of Redis's memory. */
const BALLAST_BYTES = 32 * 1024 * 1024
const UPGRADE = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }

let servers: DurableServers
let tracker: TestTracker
let redis: Redis
let member: TestMember
let infoHash: string
let alerts: AlertRecorder

beforeAll(async () => {
  servers = await startDurableServers('tracker-alerts')
  tracker = await startTracker(
    { ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0', DATABASE_POOL_SIZE: String(POOL_SIZE) },
    { postgres: servers.postgres, redisUrl: servers.redis.url },
  )
  redis = new Redis(servers.redis.url)
  redis.on('error', () => undefined)
  await tracker.context.useCases.categories.seed()
  member = await createMember(tracker, 'member')
  infoHash = (await uploadTorrent(member, 'Torrent that is watched')).infoHash
})
beforeEach(() => {
  // A batch waits for three seconds, in which these tests scrape for many minutes of Prometheus's time. How long a
  // request takes here depends on the machine.
  alerts = record(/^tracker_accounting|_duration_seconds_bucket$/)
})
afterAll(async () => {
  redis.disconnect()
  await tracker.stop()
  await servers.stop()
})

function record(without: RegExp): AlertRecorder {
  return recordAlerts('tracker', { url: () => tracker.url, without })
}

/** An announce, and two requests of the REST API. */
async function load(): Promise<void> {
  await Promise.all([
    announce(tracker.url, member.passkey, { infoHash, event: 'started' }),
    member.client.get('/api/torrents'),
    member.client.get('/api/user/me'),
  ])
}

const untilReady = (): Promise<void> => eventually(async () => (await tracker.client().get('/ready')).status === 200)

test('no alert fires while everything works', async () => {
  await alerts.scrape(QUIET, load)
  await alerts.expectFiring()
})

test('Postgres is stopped, and another process leads', async () => {
  alerts = record(/_duration_seconds_bucket$/)
  const waiting = (): Promise<number> => metricOf(tracker, 'tracker_accounting_batches_waiting')
  await announce(tracker.url, member.passkey, { infoHash, uploaded: 1_000 })
  await servers.postgres.kill()
  await eventually(async () => (await waiting()) > 0)
  await alerts.scrape(8, load)
  await alerts.expectFiring('RequestsFail', 'ServiceNotReady', 'TrackerTransfersNotCredited')
  // Only the process that leads reports batches that wait.
  await redis.set('tracker:leader', 'another process', 'PX', 60_000)
  await eventually(async () => (await waiting()) === 0)
  await redis.del('tracker:leader')
  await eventually(async () => (await waiting()) > 0)
  await servers.postgres.restart()
  await untilReady()
  await eventually(async () => (await waiting()) === 0)
  await alerts.scrape(QUIET, () => member.client.get('/api/torrents'))
  await alerts.expectFiring()
})

test('Redis is stopped', async () => {
  await servers.redis.kill()
  await alerts.scrape(8, load)
  await alerts.expectFiring('RequestsFail', 'ServiceNotReady', 'TrackerAnnouncesFail')
  await servers.redis.restart()
  await untilReady()
  await alerts.scrape(QUIET, load)
  await alerts.expectFiring()
})

test('Redis is full or nearly full', async () => {
  await redis.setbit('ballast', BALLAST_BYTES * 8 - 1, 1)
  const used = await metricOf(tracker, 'redis_memory_used_bytes{redis="main"}')
  await redis.config('SET', 'maxmemory', Math.round(used / 2))
  await alerts.scrape(8, () => announce(tracker.url, member.passkey, { infoHash }))
  await alerts.expectFiring('RedisNearlyFull', 'ServiceNotReady', 'TrackerAnnouncesFail')
  await redis.config('SET', 'maxmemory', Math.round(used * 1.15))
  await alerts.scrape(QUIET, () => announce(tracker.url, member.passkey, { infoHash }))
  await alerts.expectFiring('RedisNearlyFull')
  await redis.config('SET', 'maxmemory', 0)
  await redis.del('ballast')
  await alerts.scrape(QUIET, load)
  await alerts.expectFiring()
})

test('a lock in Postgres takes all connections and slows requests down', async () => {
  alerts = record(/^tracker_/)
  const holder = new pg.Client({ connectionString: tracker.database.adminUrl })
  await holder.connect()
  const waiting: Promise<unknown>[] = []
  let asked = 0
  // Each for another page, since requests for the same one share a query. A request waits for a connection for three seconds.
  const ask = async (): Promise<void> => {
    for (let i = 0; i < 12; i += 1) waiting.push(member.client.get(`/api/torrents?page=${String((asked += 1))}`))
    await eventually(async () => {
      const locked = await tracker.sql(`select pid from pg_stat_activity where wait_event_type = 'Lock'`)
      return locked.length === POOL_SIZE
    })
  }
  const hold = async (whileHeld: () => Promise<unknown>): Promise<void> => {
    await holder.query('begin')
    await holder.query('lock table torrents in access exclusive mode')
    await whileHeld()
    await holder.query('commit')
    await Promise.all(waiting)
  }
  try {
    await hold(() => alerts.scrape(4, ask))
    await alerts.expectFiring('PostgresPoolExhausted', 'ServiceNotReady')
    for (let i = 0; i < 3; i += 1) {
      await alerts.scrape(4)
      await hold(async () => {
        await ask()
        await holder.query('select pg_sleep(0.6)')
      })
    }
    await alerts.scrape(1)
    await alerts.expectFiring('RequestsSlow')
  } finally {
    await holder.end()
  }
})

test('Redis answers slowly', async () => {
  alerts = record(/^tracker_accounting/)
  await alerts.scrape(1, load)
  for (let i = 0; i < 3; i += 1) {
    await redis.call('CLIENT', 'PAUSE', '700', 'ALL')
    await load()
    await alerts.scrape(4)
  }
  await alerts.expectFiring('RequestsSlow', 'TrackerAnnouncesSlow')
})

test('clients announce unknown torrents and open disabled WebSockets', async () => {
  const unknown = (): Promise<unknown> =>
    announce(tracker.url, member.passkey, { infoHash: '0'.repeat(40), event: 'started' })
  await alerts.scrape(6, async () => {
    await Promise.all([unknown(), unknown(), load()])
  })
  await alerts.scrape(12, async () => {
    const headers = { ...UPGRADE, 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    const sockets = Array.from({ length: 70 }, () => rawGet(tracker.url, '/nowhere', headers))
    for (const { status } of await Promise.all(sockets)) expect(status).toBe(404)
    await Promise.all([unknown(), unknown(), load()])
  })
  await alerts.expectFiring('TrackerAnnouncesRefused', 'TrackerWebSocketsRefused')
})

test('no announces arrive although there are peers', async () => {
  await load()
  await eventually(async () => {
    await tracker.flush()
    tracker.advance(COUNTED_EVERY_MS)
    return (await metricOf(tracker, 'tracker_peers{role="leecher"}').catch(() => 0)) > 0
  })
  await alerts.scrape(QUIET)
  await alerts.expectFiring('TrackerNoAnnounces')
})

test('the service is stopped', async () => {
  const gone = recordAlerts('tracker', { url: () => 'http://127.0.0.1:9' })
  await gone.scrape(3)
  await gone.expectFiring('ServiceDown')
})
