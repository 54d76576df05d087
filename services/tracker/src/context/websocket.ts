import { randomBytes } from 'node:crypto'
import { addressKey, clientAddress } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { connectRedis } from '@vault-and-tracker/service-kit/redis'
import { repeat } from '@vault-and-tracker/service-kit/repeat'
import type { Resources } from '@vault-and-tracker/service-kit/resources'
import type { Cluster, Redis } from 'ioredis'
import type { AddressLimits } from '../announce/address-limits.ts'
import type { CheckAnnounce } from '../announce/announce-check.ts'
import type { AnnounceCounters } from '../announce/announce-counters.ts'
import type { Directory } from '../announce/directory.ts'
import type { Identify } from '../announce/identify.ts'
import { createProcesses, createRelays } from '../announce/process-relays.redis.ts'
import { relayChannel } from '../announce/process-relays.ts'
import type { Refusals } from '../announce/refusal.ts'
import type { Scrapes } from '../announce/scrape.ts'
import { createSignalling } from '../announce/signalling.ts'
import { createSocketAnnounces } from '../announce/socket-announces.ts'
import type { SocketPeer } from '../announce/socket-session.ts'
import { createSocketTracker, type SocketTracker } from '../announce/socket-tracker.ts'
import { createSocketMetrics } from '../announce/sockets.metrics.ts'
import { createSockets, type Sockets } from '../announce/sockets.ws.ts'
import type { Config } from '../config.ts'
import { subscribeToChannel } from '../redis/subscription.redis.ts'
import { tolerantMinInterval } from '../swarm/interval.ts'
import type { Swarms } from '../swarm/swarm.ts'
import { swarmSettings } from './swarms.ts'

/** WebSockets, joined. */
export type WebSockets = Sockets &
  Pick<SocketTracker, 'forget' | 'revalidateAll'> & {
    /** Removes the peers of processes that are gone; the leading process does it for all. */
    evictGone(): Promise<void>
  }

/** Offers are a browser's only way to new peers, so it announces more often. Seconds. */
const INTERVAL_S = 120
const MIN_INTERVAL_S = 60
const BEAT_EVERY_MS = 5_000
const PING_EVERY_MS = 30_000
const FIRST_REQUEST_WITHIN_MS = 30_000

/**
 * Joins the sockets of this process with what they share with HTTP announces.
 *
 * @param options `redis` is that of the swarms; `drain` comes before `resources` are closed
 * @throws UnavailableError when Redis does not respond
 */
export async function createWebSockets(options: {
  config: Config
  redis: Redis | Cluster
  metrics: Metrics
  logger: Logger
  clock: Clock
  resources: Resources
  checkAnnounce: CheckAnnounce
  scrapes: Scrapes
  limits: AddressLimits
  identify: Identify
  directory: Directory
  swarms: Swarms
  refusals: Refusals
  counters: AnnounceCounters
}): Promise<WebSockets> {
  const { config, logger, clock, resources, checkAnnounce, swarms, refusals } = options
  const processId = randomBytes(8)
  const process = processId.toString('hex')
  const counters = createSocketMetrics(options.metrics.registry)
  const publisher = await connectRedis({ url: config.REDIS_URL, name: 'tracker-relay', logger, corkWrites: true })
  const relays = createRelays(publisher, counters)
  resources.defer(() => relays.close())
  const tracker = createSocketTracker({
    ...options,
    process,
    maxTorrents: config.WS_TORRENTS_PER_SOCKET,
    tooSoonMs: tolerantMinInterval(MIN_INTERVAL_S) * 1000,
    timeToLiveMs: swarmSettings(config).timeToLive * 1000,
    announces: createSocketAnnounces({
      process: processId,
      settings: { interval: INTERVAL_S, minInterval: MIN_INTERVAL_S },
      checkAnnounce,
      limits: options.limits,
      swarms,
      refusals,
      counters: options.counters,
      random: Math.random,
    }),
    signalling: createSignalling<SocketPeer>({ process, clock, random: Math.random }),
    relays,
    counters,
  })
  const subscription = await subscribeToChannel({
    url: config.REDIS_URL,
    name: 'tracker-sockets',
    channel: (database) => relayChannel(database, process),
    logger,
    onMessage: (message) => {
      for (const line of message.split('\n')) tracker.receiveRelay(line)
    },
    // What was lost is offered again with the next announce.
    onMissed: () => undefined,
  })
  resources.defer(() => subscription.close())
  const processes = createProcesses(options.redis, processId)
  let isDrained = false
  // Otherwise the leader removes the peers that Redis was not told of, when this process is found gone.
  resources.defer(async () => {
    if (isDrained) await processes.forget(processId).catch(() => undefined)
  })
  await processes.beat()
  const heartbeat = repeat({
    everyMs: BEAT_EVERY_MS,
    task: async () => {
      await processes.beat()
      await tracker.sweep()
    },
    onError: (error) => logger.warn({ err: error }, 'could not renew the key of this process in Redis; it is retried'),
  })
  resources.defer(() => heartbeat.stop())
  const sockets = createSockets({
    tracker,
    limits: {
      origins: config.WS_ORIGINS,
      perAddress: config.WS_SOCKETS_PER_ADDRESS,
      messagesPerSecond: config.WS_MESSAGES_PER_SECOND,
      pingEveryMs: PING_EVERY_MS,
      firstRequestWithinMs: FIRST_REQUEST_WITHIN_MS,
    },
    counters,
    addressOf: (request) => clientAddress(request, config.proxies),
    keyOf: addressKey,
  })
  return {
    ...sockets,
    drain: async () => (isDrained = await sockets.drain()),
    forget: (change) => tracker.forget(change),
    revalidateAll: () => tracker.revalidateAll(),
    evictGone: async () => {
      for (const gone of await processes.gone()) {
        await swarms.evict(gone)
        await processes.forget(gone)
      }
    },
  }
}
