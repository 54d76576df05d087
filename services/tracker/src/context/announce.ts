import type { IncomingMessage } from 'node:http'
import { clientAddress } from '@vault-and-tracker/service-kit/client-address'
import { type RepeatedTask, repeat } from '@vault-and-tracker/service-kit/repeat'
import type { Cluster, Redis } from 'ioredis'
import { createAccountingMetrics } from '../accounting/accounting.metrics.ts'
import { createFlusher, type Flusher, type FlushResult } from '../accounting/accounting.ts'
import { createAccountingQueue } from '../accounting/accounting-queue.redis.ts'
import { createLedger } from '../accounting/ledger.store.ts'
import { createAnnounceMetrics } from '../announce/announce.metrics.ts'
import { type AnnounceRoutes, announceRoutes } from '../announce/announce.routes.ts'
import { createAnnounces } from '../announce/announce.ts'
import { createAnnounceCheck } from '../announce/announce-check.ts'
import { createSharedCounts } from '../announce/announce-limit.redis.ts'
import { createAnnounceLimit } from '../announce/announce-limit.ts'
import { clientRules } from '../announce/client-rules.ts'
import { createDirectoryStore } from '../announce/directory.store.ts'
import { createDirectory, type Directory } from '../announce/directory.ts'
import { createGatheredTransfers } from '../announce/expulsions.redis.ts'
import { createExpulsionStore } from '../announce/expulsions.store.ts'
import { createExpulsions, type Expulsions } from '../announce/expulsions.ts'
import { createIdentify } from '../announce/identify.ts'
import { createRefusals } from '../announce/refusal.ts'
import { createScrapes } from '../announce/scrape.ts'
import type { Sockets } from '../announce/sockets.ws.ts'
import { createLeadership } from '../background/background.ts'
import { createRedisFunctions } from '../swarm/functions.redis.ts'
import { createRedisSwarms } from '../swarm/swarm.redis.ts'
import type { Swarms } from '../swarm/swarm.ts'
import type { Connections } from './connections.ts'
import { createSwarmWatch, type SwarmWatch } from './swarm-statistics.ts'
import { connectSwarmRedis, minIntervalOf, swarmSettings } from './swarms.ts'
import { createWebSockets, type WebSockets } from './websocket.ts'

/** The announce engine, joined. */
export type AnnounceEngine = AnnounceRoutes & {
  /** Undefined where they are switched off. */
  readonly sockets: Sockets | undefined
  /** Writes to Postgres what users transferred, as the process that leads does every few seconds. */
  readonly flush: () => Promise<FlushResult>
  /** What staff see of the swarms. */
  readonly watch: SwarmWatch
  /** Fails while announces would: the Redis of the swarms is unavailable or full. */
  readonly check: () => Promise<void>
}

const FLUSH_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 30_000
const RELIEVE_EVERY_MS = 5_000
const EXPEL_EVERY_MS = 500
const EVICT_EVERY_MS = 5_000
const RECONCILE_EVERY_MS = 600_000
const SAMPLE_EVERY_MS = 10_000
const PRUNE_EVERY_MS = 3_600_000
/** Redis syncs its append only file every second, and may be a second late. */
const SETTLE_S = 3

/**
 * Joins the engine's stores and rules and starts its background tasks.
 *
 * @throws UnavailableError when Redis does not respond
 */
export async function createAnnounceEngine(connections: Connections): Promise<AnnounceEngine> {
  const { config, db, logger, clock } = connections
  const redis = await connectSwarmRedis(connections)
  const swarms = createRedisSwarms({
    redis,
    clock: connections.swarmClock,
    random: Math.random,
    settings: swarmSettings(config),
  })
  const directory = createDirectory({ store: createDirectoryStore(db), clock })
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger: createLedger(db),
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: SETTLE_S,
    onCompleted: (torrents) =>
      connections.invalidations.publish(
        ...torrents.flatMap(({ infoHash, infoHashV2 }) =>
          [infoHash, infoHashV2].flatMap((hash) =>
            hash === null ? [] : [{ kind: 'torrent', infoHash: hash.toString('hex') } as const],
          ),
        ),
      ),
    onError: (error) => logger.warn({ err: error }, 'could not read or write an accounting batch; it is retried'),
  })
  const watch = createSwarmWatch(connections, redis, swarms)
  const { routes, ...shared } = createUseCases(connections, redis, swarms, directory, watch)
  const sockets = config.WEBSOCKET
    ? await createWebSockets({ ...connections, ...shared, redis, swarms, directory })
    : undefined
  const expulsions = startExpulsions(connections, redis, swarms)
  connections.invalidations.addCache({
    onChange: (change) => {
      directory.forget(change)
      sockets?.forget(change)
      if (change.kind === 'expelled') expulsions.expel(change.userId)
    },
    onMissed: () => {
      directory.revalidateAll()
      sockets?.revalidateAll()
    },
  })
  startBackground(connections, redis, { swarms, flusher, sockets, watch })
  return {
    ...routes,
    sockets,
    flush: () => flusher.flush(),
    watch,
    check: () => swarms.check(),
  }
}

/** Announces and scrapes over HTTP, and what sockets share with them. */
function createUseCases(
  { config, metrics, logger, clock }: Connections,
  redis: Redis | Cluster,
  swarms: Swarms,
  directory: Directory,
  watch: SwarmWatch,
) {
  const mode = config.TRACKER_MODE
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = minIntervalOf(config)
  const counters = watch.watched(createAnnounceMetrics(metrics.registry))
  const refusals = createRefusals({
    interval,
    minInterval,
    counters,
    onError: (error, action) => logger.error({ err: error, action }, 'announce or scrape failed'),
  })
  const identify = createIdentify(mode, directory)
  const checkAnnounce = createAnnounceCheck({
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
  const announces = createAnnounces({ settings, checkAnnounce, swarms, counters, random: Math.random })
  const scrapes = createScrapes({ mode, identify, directory, swarms, refusals, counters })
  const addressOf = (request: IncomingMessage): string => clientAddress(request, config.proxies)
  const routes = announceRoutes({ announces, scrapes, refusals, addressOf })
  return { routes, checkAnnounce, scrapes, identify, refusals, counters }
}

/** Takes users out of their swarms, whichever process hears of it first. */
function startExpulsions(
  { config, db, logger, resources }: Connections,
  redis: Redis | Cluster,
  swarms: Swarms,
): Expulsions {
  const functions = createRedisFunctions(redis, 'background')
  const onError = (error: unknown): void =>
    logger.warn({ err: error }, 'could not take a user out of the swarms; it is retried')
  const expulsions = createExpulsions({
    gathered: createGatheredTransfers(redis),
    store: createExpulsionStore(db, 2 * swarmSettings(config).timeToLive),
    swarms,
    turnFor: (userId) => createLeadership(functions, `expulsion:${userId}`),
    onError,
  })
  const rounds = repeat({ everyMs: EXPEL_EVERY_MS, task: () => expulsions.run(), onError })
  resources.defer(() => rounds.stop())
  return expulsions
}

/** Starts the tasks that one process of all has to do. */
function startBackground(
  { config, metrics, logger, resources }: Connections,
  redis: Redis | Cluster,
  parts: { swarms: Swarms; flusher: Flusher; sockets: WebSockets | undefined; watch: SwarmWatch },
): void {
  const { swarms, flusher, sockets } = parts
  const { swarmStatistics } = parts.watch.useCases
  const leadership = createLeadership(createRedisFunctions(redis, 'background'))
  const repeatAsLeader = (name: string, everyMs: number, task: () => Promise<void>): RepeatedTask =>
    repeat({
      everyMs,
      task: async () => {
        if (await leadership.acquire()) await task()
      },
      onError: (error) => logger.warn({ err: error, task: name }, 'a background task failed; it is retried'),
    })
  const counters = createAccountingMetrics(metrics.registry)
  const sweep = async (): Promise<void> => {
    const relieved = await swarms.sweep()
    if (relieved > 0)
      logger.warn({ relieved }, 'Redis is full: dropped counters of clients that have been away longest')
  }
  const tasks = [
    repeatAsLeader('sweep of expired peers', SWEEP_EVERY_MS, sweep),
    repeatAsLeader('sweep of a full Redis', RELIEVE_EVERY_MS, async () => {
      if (await swarms.isFull()) await sweep()
    }),
    repeatAsLeader('sample of the swarms', SAMPLE_EVERY_MS, () => swarmStatistics.sample()),
    repeatAsLeader('pruning of samples', PRUNE_EVERY_MS, () => swarmStatistics.prune()),
  ]
  if (sockets)
    tasks.push(repeatAsLeader('eviction of peers of ended processes', EVICT_EVERY_MS, () => sockets.evictGone()))
  if (config.TRACKER_MODE === 'private')
    tasks.push(
      repeatAsLeader('accounting flush', FLUSH_EVERY_MS, async () => counters.countFlush(await flusher.flush())),
      repeatAsLeader('reconciliation of swarm counts', RECONCILE_EVERY_MS, () => flusher.reconcile()),
    )
  resources.defer(() => leadership.release())
  resources.defer(async () => {
    await Promise.all(tasks.map((task) => task.stop()))
  })
}
