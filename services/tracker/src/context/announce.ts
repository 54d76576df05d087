import type { IncomingMessage } from 'node:http'
import { clientAddress } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { connectRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import type { Cluster, Redis } from 'ioredis'
import { createAccountingMetrics } from '../accounting/accounting.metrics.ts'
import { createFlusher, type Flusher, type FlushResult } from '../accounting/accounting.ts'
import { createAccountingQueue } from '../accounting/accounting-queue.redis.ts'
import { createLedger } from '../accounting/ledger.store.ts'
import { createAdmission } from '../announce/admission.ts'
import { createAnnounceMetrics } from '../announce/announce.metrics.ts'
import { type AnnounceRoutes, announceRoutes } from '../announce/announce.routes.ts'
import { createAnnounces } from '../announce/announce.ts'
import { createSharedCounts } from '../announce/announce-limit.redis.ts'
import { createAnnounceLimit } from '../announce/announce-limit.ts'
import { clientRules } from '../announce/clients.ts'
import { createDirectoryStore } from '../announce/directory.store.ts'
import { createDirectory, type Directory } from '../announce/directory.ts'
import { createIdentify } from '../announce/identify.ts'
import { createRefusals } from '../announce/refusal.ts'
import { createScrapes } from '../announce/scrape.ts'
import type { Sockets } from '../announce/sockets.ws.ts'
import { type Background, repeat } from '../background/background.ts'
import { createLeadership } from '../background/leadership.redis.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/schema.ts'
import { connectSwarmCluster } from '../swarm/cluster.redis.ts'
import { createRedisFunctions } from '../swarm/functions.redis.ts'
import { recoveryInterval, timeToLive } from '../swarm/interval.ts'
import { createRedisSwarms } from '../swarm/swarm.redis.ts'
import type { SwarmSettings, Swarms } from '../swarm/swarm.ts'
import type { Invalidations } from './invalidations.ts'
import { createWebSockets, type WebSockets } from './websocket.ts'

/** The announce engine, joined. */
export type AnnounceEngine = AnnounceRoutes & {
  /** Undefined where they are switched off. */
  readonly sockets: Sockets | undefined
  /** Writes to Postgres what users transferred, as the process that leads does every few seconds. */
  readonly flush: () => Promise<FlushResult>
  /** Fails unless the Redis of the swarms answers, where they have one of their own. */
  readonly ping: () => Promise<void>
  /** Stops the background tasks and closes the connections. */
  close(): Promise<void>
}

type Options = {
  config: Config
  db: Db
  redis: Redis
  invalidations: Invalidations
  metrics: Metrics
  logger: Logger
  clock: Clock
}

const DAY_S = 86_400
/** Long enough for a client that returns from a long outage to be credited. */
const KEEP_COUNTERS_S = 21 * DAY_S
/** Ten gigabits a second. */
const MAX_BYTES_PER_S = 1.25e9
const REPEAT_WINDOW_S = 30
const FLUSH_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 30_000
const EVICT_EVERY_MS = 5_000
const RECONCILE_EVERY_MS = 600_000
/** Redis syncs its append only file every second, and may be a second late. */
const SETTLE_S = 3

/**
 * Joins the engine's stores and rules and starts its background tasks.
 *
 * @throws UnavailableError when Redis does not answer
 */
export async function createAnnounceEngine(options: Options): Promise<AnnounceEngine> {
  const { config, db, logger, clock } = options
  const redis = await connectSwarmRedis(options)
  const swarms = createRedisSwarms({ redis, clock, random: Math.random, settings: swarmSettings(config) })
  const directory = createDirectory({ store: createDirectoryStore(db), clock })
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger: createLedger(db),
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: SETTLE_S,
    onFailure: (error) => logger.warn({ err: error }, 'could not read or write an accounting batch; it is retried'),
  })
  const { routes, ...shared } = createUseCases(options, redis, swarms, directory)
  const sockets = config.WEBSOCKET
    ? await createWebSockets({ ...options, ...shared, redis, swarms, directory })
    : undefined
  options.invalidations.addCache({
    onChange: (change) => {
      directory.forget(change)
      sockets?.forget(change)
    },
    onMissed: () => {
      directory.revalidateAll()
      sockets?.revalidateAll()
    },
  })
  const background = startBackground(options, redis, swarms, flusher, sockets)
  return {
    ...routes,
    sockets,
    flush: () => flusher.flush(),
    ping: async () => {
      if (redis !== options.redis) await redis.ping()
    },
    close: async () => {
      await background.stop()
      await sockets?.close()
      if (redis !== options.redis) redis.disconnect()
    },
  }
}

/** The Redis of the swarms: the service's, unless another one or a Cluster is configured. */
async function connectSwarmRedis({ config, redis, logger }: Options): Promise<Redis | Cluster> {
  const [url, ...more] = config.SWARM_REDIS_URL
  if (url === undefined) return redis
  if (more.length > 0) return connectSwarmCluster({ urls: config.SWARM_REDIS_URL, logger })
  const own = await connectRedis({ url, name: 'tracker-swarm', logger })
  await warnOfEviction(own, logger)
  return own
}

function minIntervalOf(config: Config): number {
  return Math.min(config.MIN_ANNOUNCE_INTERVAL, config.ANNOUNCE_INTERVAL)
}

function swarmSettings(config: Config): SwarmSettings {
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = minIntervalOf(config)
  // Clients count from when the answer arrives, and the clocks of some are a little fast.
  const tolerant = (seconds: number): number => Math.floor(seconds * 0.95)
  return {
    timeToLive: timeToLive(interval),
    minInterval: tolerant(minInterval),
    repeatWindow: REPEAT_WINDOW_S,
    recoveryInterval: tolerant(Math.min(minInterval, recoveryInterval(interval))),
    maxPeersPerOwner: config.MAX_CLIENTS_PER_TORRENT,
    evictsOldest: config.TRACKER_MODE === 'open',
    keepCountersFor: config.TRACKER_MODE === 'private' ? KEEP_COUNTERS_S : 0,
    maxBytesPerSecond: MAX_BYTES_PER_S,
  }
}

/** Announces and scrapes over HTTP, and what sockets share with them. */
function createUseCases(
  { config, metrics, logger, clock }: Options,
  redis: Redis | Cluster,
  swarms: Swarms,
  directory: Directory,
) {
  const mode = config.TRACKER_MODE
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = minIntervalOf(config)
  const counters = createAnnounceMetrics(metrics.registry)
  const refusals = createRefusals({
    interval,
    minInterval,
    counters,
    reportError: (error, action) => logger.error({ err: error, action }, 'announce or scrape failed'),
  })
  const identify = createIdentify(mode, directory)
  const admit = createAdmission({
    settings: {
      allowPrivatePeers: config.ALLOW_PRIVATE_PEERS,
      allowIpParam: config.ALLOW_IP_PARAM,
      clients: clientRules({ allowed: config.CLIENTS_ALLOWED, denied: config.CLIENTS_DENIED }),
    },
    identify,
    directory,
    limit: createAnnounceLimit({ limit: config.ANNOUNCE_LIMIT, counts: createSharedCounts(redis), clock }),
    refusals,
  })
  const settings = { interval, minInterval }
  const announces = createAnnounces({ settings, admit, swarms, counters, clock, random: Math.random })
  const scrapes = createScrapes({ mode, identify, directory, swarms, refusals, counters })
  const addressOf = (request: IncomingMessage): string => clientAddress(request, config.proxies)
  const routes = announceRoutes({ announces, scrapes, refusals, addressOf })
  return { routes, admit, scrapes, identify, refusals, counters }
}

/** Starts the tasks that one process of all has to do. */
function startBackground(
  { config, metrics, logger }: Options,
  redis: Redis | Cluster,
  swarms: Swarms,
  flusher: Flusher,
  sockets: WebSockets | undefined,
): Background {
  const leadership = createLeadership(redis)
  const repeatAsLeader = (everyMs: number, task: () => Promise<void>): Background =>
    repeat({
      everyMs,
      task: async () => {
        if (await leadership.acquire()) await task()
      },
      failed: (error) => logger.warn({ err: error }, 'a background task failed; it is retried'),
    })
  const counters = createAccountingMetrics(metrics.registry)
  const tasks = [repeatAsLeader(SWEEP_EVERY_MS, () => swarms.sweep())]
  if (sockets) tasks.push(repeatAsLeader(EVICT_EVERY_MS, () => sockets.evictGone()))
  if (config.TRACKER_MODE === 'private')
    tasks.push(
      repeatAsLeader(FLUSH_EVERY_MS, async () => counters.countFlush(await flusher.flush())),
      repeatAsLeader(RECONCILE_EVERY_MS, () => flusher.reconcile()),
    )
  return {
    stop: async () => {
      await Promise.all(tasks.map((task) => task.stop()))
      await leadership.release()
    },
  }
}
