import { setTimeout as sleep } from 'node:timers/promises'
import { clientAddress } from '@vault-and-tracker/service-kit/http/client-address'
import { createRedisMetrics } from '@vault-and-tracker/service-kit/metrics/operational'
import { Cluster, type Redis } from 'ioredis'
import { createAccountingMetrics } from '../accounting/accounting.metrics.ts'
import { changesOf, createFlusher, type Flusher } from '../accounting/accounting.ts'
import { createAccountingQueue } from '../accounting/accounting-queue.redis.ts'
import { createLedger } from '../accounting/ledger.store.ts'
import type { Addresses } from '../addresses/addresses.ts'
import { createAnnounceMetrics } from '../announce/announce.metrics.ts'
import { createTrackerRequests, type TrackerRequests } from '../announce/announce.routes.ts'
import { createAnnounces } from '../announce/check-announce.ts'
import { createFullScrape } from '../announce/full-scrape.ts'
import { createSharedCounts } from '../announce/limits.redis.ts'
import { createAnnounceLimit, createCountLimit } from '../announce/limits.ts'
import { createLookupStore } from '../announce/lookups.store.ts'
import { createLookups, type Lookups } from '../announce/lookups.ts'
import { createRefusals } from '../announce/refusal.ts'
import { createScrapes } from '../announce/scrape.ts'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import { createLeadership } from '../redis/leadership.redis.ts'
import { createGatheredTransfers } from '../removals/removals.redis.ts'
import { createRemovalStore } from '../removals/removals.store.ts'
import { createRemovals, type Removals } from '../removals/removals.ts'
import { createRedisSwarms } from '../swarm/swarm.redis.ts'
import type { Swarms } from '../swarm/swarm.ts'
import { createSwarmNames } from '../swarm/swarm-names.redis.ts'
import { type ClientsPart, createClientsPart, serverRules } from './clients.ts'
import type { Connections } from './connections.ts'
import { createLeadingTasks } from './leading-tasks.ts'
import { createSwarmStatisticsPart, type SwarmStatisticsPart } from './swarm-statistics.ts'
import { connectSwarmRedis, minIntervalOf, swarmSettings } from './swarms.ts'
import { createWebSockets, type WebSockets } from './websocket.ts'

/** The assembled announce engine. */
export type AnnounceEngine = {
  readonly requests: TrackerRequests
  /** Undefined if WebSockets are disabled. */
  readonly sockets: WebSockets | undefined
  /** Cached users and torrents. */
  readonly lookups: Lookups
  /** Swarm statistics and clients, for staff. */
  readonly useCases: SwarmStatisticsPart['useCases'] & ClientsPart
  /** Fails if announces would fail, because the Redis of the swarms is unavailable or full. */
  readonly check: () => Promise<void>
}

const FLUSH_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 30_000
/** The interval between checks for a full Redis. */
const RELIEVE_EVERY_MS = 5_000
const REMOVE_EVERY_MS = 500
const EVICT_EVERY_MS = 5_000
const RECONCILE_EVERY_MS = 600_000
const SAMPLE_EVERY_MS = 10_000
const PRUNE_EVERY_MS = 3_600_000
const COUNT_CLIENTS_EVERY_MS = 60_000
/** Redis syncs its append-only file every second, and may be a second late. */
export const SETTLE_SECONDS = 3

/**
 * Creates the announce engine with its background tasks.
 *
 * @throws UnavailableError if Redis does not respond
 */
export async function createAnnounceEngine(connections: Connections, addresses: Addresses): Promise<AnnounceEngine> {
  const { config, db, logger, clock } = connections
  const redis = await connectSwarmRedis(connections)
  // The nodes of a Cluster have their own monitoring.
  const stores = redis instanceof Cluster || redis === connections.redis ? {} : { swarms: redis }
  createRedisMetrics(connections.metrics.registry, { main: connections.redis, ...stores })
  const swarms = createRedisSwarms({
    redis,
    clock: connections.swarmClock,
    random: Math.random,
    settings: swarmSettings(config),
  })
  const lookups = createLookups({ store: createLookupStore(db, clock, serverRules(config)), clock })
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger: createLedger(db),
    count: (names) => swarms.count(names),
    clock,
    settleSeconds: SETTLE_SECONDS,
    onCompleted: (torrents) => connections.invalidations.publish(...torrents.flatMap(changesOf)),
    onError: (error) => logger.warn({ err: error }, 'accounting batch failed; will retry'),
  })
  const statistics = createSwarmStatisticsPart(connections, redis, swarms)
  const clients = createClientsPart(connections, redis)
  const { requests, ...shared } = createUseCases(connections, redis, { swarms, lookups, statistics, addresses })
  const sockets = config.WEBSOCKET
    ? await createWebSockets({ ...connections, redis, shared: { ...shared, swarms, lookups } })
    : undefined
  const removals = addRemovals(connections, redis, swarms)
  connections.invalidations.addCache({
    onChange: (change) => {
      lookups.forget(change)
      sockets?.forget(change)
      if (change.kind === 'expelled') removals.remove(change.userId)
    },
    onMissed: () => {
      lookups.revalidateAll()
      sockets?.revalidateAll()
    },
  })
  addBackground(connections, redis, { swarms, flusher, sockets, statistics, addresses, ...clients })
  return {
    requests,
    sockets,
    lookups,
    useCases: { ...statistics.useCases, ...clients },
    check: () => swarms.check(),
  }
}

/** Announces and scrapes over HTTP, and the parts that sockets share with them. */
function createUseCases(
  { config, metrics, logger, clock }: Connections,
  redis: Redis | Cluster,
  parts: { swarms: Swarms; lookups: Lookups; statistics: SwarmStatisticsPart; addresses: Addresses },
) {
  const { swarms, lookups, statistics } = parts
  const mode = config.TRACKER_MODE
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = minIntervalOf(config)
  const counters = statistics.countedByTime(createAnnounceMetrics(metrics.registry))
  const refusals = createRefusals({
    interval,
    minInterval,
    counters,
    onError: (error, action) => logger.error({ err: error, action }, 'announce or scrape failed'),
  })
  const counts = createSharedCounts(redis)
  const limitOf = (name: string, limit: number) => createCountLimit({ name, limit, counts, clock })
  const passkeyLimit = limitOf('passkey', config.UNKNOWN_PASSKEY_LIMIT)
  const announces = createAnnounces({
    mode,
    refusals,
    lookups,
    announceLimit: createAnnounceLimit({ limit: config.ANNOUNCE_LIMIT, counts, clock, isStrict: mode === 'open' }),
    passkeyLimit,
    allowPrivatePeers: config.ALLOW_PRIVATE_PEERS,
    allowIpParam: config.ALLOW_IP_PARAM,
    recordAddress: parts.addresses.record,
  })
  const fullScrape =
    mode === 'open' && config.FULL_SCRAPE
      ? createFullScrape({ names: createSwarmNames(redis), swarms, clock })
      : undefined
  const scrapeLimit = limitOf('scrape', config.SCRAPE_LIMIT)
  const scrapes = createScrapes({ mode, lookups, scrapeLimit, passkeyLimit, swarms, refusals, counters, fullScrape })
  const requests = createTrackerRequests({
    announces,
    swarms,
    scrapes,
    refusals,
    counters,
    interval,
    minInterval,
    random: Math.random,
    addressOf: (sender) => clientAddress(sender, config.proxies),
  })
  return { requests, mode, announces, scrapes, refusals, counters }
}

/** Removes users from their swarms. */
function addRemovals(
  { config, db, logger, background }: Connections,
  redis: Redis | Cluster,
  swarms: Swarms,
): Removals {
  const onError = (error: unknown): void =>
    logger.warn({ err: error }, 'removing a user from the swarms failed; will retry')
  const removals = createRemovals({
    gathered: createGatheredTransfers(redis),
    store: createRemovalStore(db, 2 * swarmSettings(config).timeToLive),
    swarms,
    leaseFor: (userId) => createLeadership(redis, `removal:${userId}`),
    onError,
  })
  background.add({ everyMs: REMOVE_EVERY_MS, task: () => removals.run(), onError })
  return removals
}

/** Adds the background tasks that only the leading process runs. */
function addBackground(
  connections: Connections,
  redis: Redis | Cluster,
  parts: {
    swarms: Swarms
    flusher: Flusher
    sockets: WebSockets | undefined
    statistics: SwarmStatisticsPart
    addresses: Addresses
    clientCensus: ClientsPart['clientCensus']
  },
): void {
  const { config, metrics, logger } = connections
  const { swarms, flusher, sockets, addresses } = parts
  const { swarmStatistics } = parts.statistics.useCases
  const addAsLeader = createLeadingTasks({ ...connections, redis })
  const counters = createAccountingMetrics(metrics.registry)
  const sweep = async (): Promise<void> => {
    const relieved = await swarms.sweep()
    if (relieved > 0)
      logger.warn({ relieved }, 'Redis is full: dropped the oldest counters of absent clients; raise its maxmemory')
  }
  addAsLeader('sweep of expired peers', SWEEP_EVERY_MS, sweep)
  addAsLeader('sweep of a full Redis', RELIEVE_EVERY_MS, async () => {
    if (await swarms.isFull()) await sweep()
  })
  addAsLeader('sample of the swarms', SAMPLE_EVERY_MS, () => swarmStatistics.sample())
  addAsLeader('count of clients', COUNT_CLIENTS_EVERY_MS, () => parts.clientCensus.run())
  addAsLeader('pruning of samples', PRUNE_EVERY_MS, () => swarmStatistics.prune())
  addAsLeader('pruning of addresses', PRUNE_EVERY_MS, () => addresses.prune())
  if (sockets) addAsLeader('eviction of peers of ended processes', EVICT_EVERY_MS, () => sockets.evictGone())
  if (config.TRACKER_MODE !== 'private') return
  addAsLeader(
    'accounting flush',
    FLUSH_EVERY_MS,
    async (stopping) => {
      const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
      counters.countFlush(await flusher.flushTurn(FLUSH_EVERY_MS, pause))
    },
    { fromStart: true, otherwise: () => counters.leaveToAnother() },
  )
  addAsLeader('reconciliation of swarm counts', RECONCILE_EVERY_MS, () => flusher.reconcile())
}
