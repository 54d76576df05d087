import { randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { repeat } from '@vault-and-tracker/service-kit/lifecycle/background'
import type { Resources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import { connectRedis } from '@vault-and-tracker/service-kit/redis/connection'
import { subscribeToChannel } from '@vault-and-tracker/service-kit/redis/subscription'
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config.ts'
import type { Swarms } from '../swarm/swarm.ts'
import { type SharedParts, SocketAnnounces } from '../webtorrent/announces.ts'
import type { SocketPeer } from '../webtorrent/connections.ts'
import { SocketCounts } from '../webtorrent/counts.ts'
import { createProcesses, createRelays, relayChannel } from '../webtorrent/processes.redis.ts'
import { SocketServer } from '../webtorrent/server.ws.ts'
import { Signalling } from '../webtorrent/signalling.ts'
import { SocketTracker } from '../webtorrent/tracker.ts'
import { registerSocketMetrics } from '../webtorrent/webtorrent.metrics.ts'
import { swarmSettings } from './swarms.ts'

/** The assembled WebSocket server. */
export type WebSockets = Pick<SocketServer, 'attach' | 'drain'> &
  Pick<SocketTracker, 'forget' | 'revalidateAll'> & {
    /** Removes the peers of processes that have ended; only the leading process does this. */
    evictGone(): Promise<void>
  }

const BEAT_EVERY_MS = 5_000
const PING_EVERY_MS = 30_000
const FIRST_REQUEST_WITHIN_MS = 30_000

/**
 * Creates the WebSocket server of this process.
 *
 * @param options `redis` is the Redis of the swarms; call `drain` before closing `resources`
 * @throws UnavailableError if Redis does not respond
 */
export async function createWebSockets(options: {
  config: Config
  redis: Redis | Cluster
  metrics: Metrics
  logger: Logger
  clock: Clock
  resources: Resources
  shared: SharedParts & { swarms: Swarms }
}): Promise<WebSockets> {
  const { config, logger, clock, resources } = options
  const processId = randomBytes(8)
  const process = processId.toString('hex')
  const counts = new SocketCounts()
  registerSocketMetrics(options.metrics.registry, counts)
  const publisher = await connectRedis({ url: config.REDIS_URL, name: 'tracker-relay', logger })
  const relays = createRelays(publisher, counts)
  resources.defer(() => relays.close())
  const tracker = new SocketTracker({
    process,
    maxTorrents: config.WS_TORRENTS_PER_SOCKET,
    timeToLiveMs: swarmSettings(config).timeToLive * 1000,
    announces: new SocketAnnounces(processId, options.shared),
    signalling: new Signalling<SocketPeer>(clock, Math.random),
    relays,
    counts,
    clock,
  })
  const subscription = await subscribeToChannel({
    url: config.REDIS_URL,
    name: 'tracker-sockets',
    channel: (database) => relayChannel(database, process),
    logger,
    onMessage: (message) => {
      for (const line of message.split('\n')) tracker.receiveRelay(line)
    },
    // Clients repeat lost offers with the next announce.
    onMissed: () => undefined,
  })
  resources.defer(() => subscription.close())
  const processes = createProcesses(options.redis, processId)
  let isDrained = false
  // Without a drain, the leader removes this process's remaining peers once its heartbeat expires.
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
    onError: (error) => logger.warn({ err: error }, 'heartbeat of this process in Redis failed; will retry'),
  })
  resources.defer(() => heartbeat.stop())
  const server = new SocketServer({
    tracker,
    limits: {
      origins: config.WS_ORIGINS,
      perAddress: config.WS_SOCKETS_PER_ADDRESS,
      messagesPerSecond: config.WS_MESSAGES_PER_SECOND,
      pingEveryMs: PING_EVERY_MS,
      firstRequestWithinMs: FIRST_REQUEST_WITHIN_MS,
    },
    counts,
    proxies: config.proxies,
  })
  return {
    attach: (http) => server.attach(http),
    drain: async () => (isDrained = await server.drain()),
    forget: (change) => tracker.forget(change),
    revalidateAll: () => tracker.revalidateAll(),
    evictGone: async () => {
      for (const gone of await processes.gone()) {
        await options.shared.swarms.evict(gone)
        await processes.forget(gone)
      }
    },
  }
}
