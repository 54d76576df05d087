import { clientAddress, trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { connectRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import type { Cluster, Redis } from 'ioredis'
import { createFlusher, type FlushRound } from './accounting/accounting.ts'
import { createAccountingMetrics } from './accounting/accounting-metrics.ts'
import { createAccountingQueue } from './accounting/accounting-queue.store.ts'
import { createLedger } from './accounting/ledger.store.ts'
import { type AnnounceRoutes, announceRoutes } from './announce/announce.routes.ts'
import { createAnnounces } from './announce/announce.ts'
import { createSharedCounts } from './announce/announce-limit.store.ts'
import { createAnnounceLimit } from './announce/announce-limit.ts'
import { createAnnounceMetrics } from './announce/announce-metrics.ts'
import { clientRules } from './announce/clients.ts'
import { createDirectoryStore } from './announce/directory.store.ts'
import { createDirectory } from './announce/directory.ts'
import { createScrapes } from './announce/scrape.ts'
import { type Background, repeat } from './background/background.ts'
import { createLeadership } from './background/leadership.store.ts'
import type { Config } from './config.ts'
import type { Db } from './db/schema.ts'
import { listenForInvalidations } from './invalidation/invalidation-listener.store.ts'
import { hurriedInterval, timeToLive } from './swarm/interval.ts'
import { createRedisSwarms } from './swarm/swarm.store.ts'
import { connectSwarmCluster } from './swarm/swarm-redis.store.ts'

/** The announce engine, joined. */
export type AnnounceEngine = AnnounceRoutes & {
  /** Writes to Postgres what users moved, as the process that leads does every few seconds. */
  readonly flush: () => Promise<FlushRound>
  /** Fails unless the swarms' own Redis answers, where they have one. */
  readonly ping: () => Promise<void>
  /** Stops what runs in the background and gives the connection back. */
  close(): Promise<void>
}

/** How long counters of silent peers are kept, so that a client back from a long outage is still credited. */
const KEEP_COUNTERS_S = 21 * 86_400
/** Ten gigabits a second. */
const FASTEST_BYTES_PER_S = 1.25e9
const REPEAT_WINDOW_S = 30
const FLUSH_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 30_000
const RECONCILE_EVERY_MS = 600_000
/** Redis syncs its append only file every second, and may be a second late. */
const SETTLE_S = 3

/**
 * Joins the engine's stores and rules.
 *
 * @throws when Redis does not answer
 */
export async function createAnnounceEngine(options: {
  config: Config
  db: Db
  redis: Redis
  metrics: Metrics
  logger: Logger
  clock: Clock
}): Promise<AnnounceEngine> {
  const { config, db, metrics, logger, clock } = options
  const redis = await connectSwarmRedis(options)
  const mode = config.TRACKER_MODE
  const random = Math.random
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = Math.min(config.MIN_ANNOUNCE_INTERVAL, interval)
  const swarms = createRedisSwarms({
    redis,
    clock,
    random,
    terms: {
      timeToLive: timeToLive(interval),
      // Clients count from when the answer arrives, and some a little fast.
      minInterval: Math.floor(minInterval * 0.95),
      repeatWindow: REPEAT_WINDOW_S,
      hurriedInterval: Math.floor(Math.min(minInterval, hurriedInterval(interval)) * 0.95),
      slots: config.MAX_CLIENTS_PER_TORRENT,
      evicts: mode === 'open',
      keepCounters: mode === 'private' ? KEEP_COUNTERS_S : 0,
      fastest: FASTEST_BYTES_PER_S,
    },
  })
  const directory = createDirectory({ store: createDirectoryStore(db), clock })
  const announces = createAnnounces({
    settings: {
      mode,
      interval,
      minInterval,
      allowPrivatePeers: config.ALLOW_PRIVATE_PEERS,
      allowIpParam: config.ALLOW_IP_PARAM,
      clients: clientRules({ allowed: config.CLIENTS_ALLOWED, denied: config.CLIENTS_DENIED }),
    },
    directory,
    swarms,
    limit: createAnnounceLimit({ limit: config.ANNOUNCE_LIMIT, counts: createSharedCounts(redis), clock }),
    clock,
    random,
  })
  const listener = await listenForInvalidations({
    url: config.REDIS_URL,
    logger,
    changed: (change) => directory.forget(change),
    missed: () => directory.doubtEverything(),
  })
  const flusher = createFlusher({
    queue: createAccountingQueue(redis),
    ledger: createLedger(db),
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: SETTLE_S,
    failed: (error) => logger.warn({ err: error }, 'a batch of accounting could not be read or written; it waits'),
  })
  const leadership = createLeadership(redis)
  const led = (everyMs: number, task: () => Promise<void>): Background =>
    repeat({
      everyMs,
      task: async () => {
        if (await leadership.lead()) await task()
      },
      failed: (error) => logger.warn({ err: error }, 'background work failed; it is tried again'),
    })
  const flushed = createAccountingMetrics(metrics.registry)
  const background = [led(SWEEP_EVERY_MS, () => swarms.sweep())]
  if (mode === 'private')
    background.push(
      led(FLUSH_EVERY_MS, async () => flushed(await flusher.flush())),
      led(RECONCILE_EVERY_MS, () => flusher.reconcile()),
    )

  const proxies = trustedProxies(config.TRUSTED_PROXIES)
  return {
    ...announceRoutes({
      announces,
      scrapes: createScrapes({ mode, announces, directory, swarms }),
      counters: createAnnounceMetrics(metrics.registry),
      addressOf: (request) => clientAddress(request, proxies),
      clock,
      random,
      logger,
    }),
    flush: () => flusher.flush(),
    ping: async () => {
      if (redis !== options.redis) await redis.ping()
    },
    close: async () => {
      await Promise.all(background.map((task) => task.stop()))
      await leadership.resign()
      listener.close()
      if (redis !== options.redis) redis.disconnect()
    },
  }
}

/** The Redis of the swarms: that of everything else, unless another one or a Cluster is configured. */
async function connectSwarmRedis(options: { config: Config; redis: Redis; logger: Logger }): Promise<Redis | Cluster> {
  const { config, redis, logger } = options
  const [url, ...more] = config.SWARM_REDIS_URL
  if (url === undefined) return redis
  if (more.length > 0) return connectSwarmCluster({ urls: config.SWARM_REDIS_URL, logger })
  const own = await connectRedis({ url, name: 'tracker-swarm', logger })
  await warnOfEviction(own, logger)
  return own
}
