import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { orRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import { Redis } from 'ioredis'
import {
  type Invalidation,
  type InvalidationHandlers,
  type InvalidationSubscription,
  invalidationChannel,
  type PublishInvalidation,
} from './invalidation.ts'

const HEARTBEAT_MS = 5_000
const COMMAND_TIMEOUT_MS = 2_000

/** Publishes invalidations as JSON on a Redis channel. */
export function createInvalidationPublisher(redis: Redis, logger: Logger): PublishInvalidation {
  const channel = invalidationChannel(redis.options.db ?? 0)
  return async (...changes) => {
    const results = await Promise.allSettled(changes.map((change) => redis.publish(channel, JSON.stringify(change))))
    for (const result of results)
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason as unknown },
          'could not publish a cache invalidation; caches expire by themselves',
        )
  }
}

/** Subscribes to invalidations; `onMissed` is called after every reconnection. */
export function subscribeToInvalidations(
  options: { url: string; logger: Logger; heartbeatMs?: number } & InvalidationHandlers,
): Promise<InvalidationSubscription> {
  return subscribeToChannel({
    ...options,
    name: 'tracker-invalidation',
    channel: invalidationChannel,
    onMessage: (message) => {
      const change = parseInvalidation(message)
      if (change) options.onChange(change)
      else options.onMissed()
    },
  })
}

/**
 * Subscribes to a channel on a connection of its own. Messages sent while it was down are lost, so `onMissed` is
 * called after every reconnection. The channel may be silent for hours, so the connection is checked with a heartbeat,
 * and replaced when there is no answer.
 *
 * @param options `channel` names it for the number of a logical database; `heartbeatMs` is how often it is checked
 * @throws UnavailableError when Redis does not respond
 */
export async function subscribeToChannel(options: {
  url: string
  name: string
  channel: (database: number) => string
  logger: Logger
  heartbeatMs?: number
  onMessage: (message: string) => void
  onMissed: () => void
}): Promise<InvalidationSubscription> {
  const redis = new Redis(options.url, {
    connectionName: options.name,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    autoResubscribe: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 3_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  })
  redis.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis connection error'))
  redis.on('message', (_channel: string, message: string) => options.onMessage(message))
  const channel = options.channel(redis.options.db ?? 0)
  await orRedisUnavailable(async () => {
    await redis.connect()
    await redis.subscribe(channel)
  }).catch((error: unknown) => {
    // Otherwise it would connect again and again.
    redis.disconnect()
    throw error
  })
  const reconnect = (): void => {
    if (redis.status === 'ready') redis.disconnect(true)
  }
  redis.on('ready', () => void redis.subscribe(channel).then(options.onMissed, reconnect))
  let isPinging = false
  const ping = async (): Promise<void> => {
    isPinging = true
    await redis.ping().catch(reconnect)
    isPinging = false
  }
  const heartbeat = setInterval(() => {
    if (!isPinging && redis.status === 'ready') void ping()
  }, options.heartbeatMs ?? HEARTBEAT_MS)
  return {
    close: () => {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}

/** Reads a message; undefined for one of a kind that only a later release knows. */
function parseInvalidation(message: string): Invalidation | undefined {
  let value: unknown
  try {
    value = JSON.parse(message)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  if (value.kind === 'site' || value.kind === 'categories' || value.kind === 'torznab') return { kind: value.kind }
  if (value.kind === 'user' && 'passkey' in value && typeof value.passkey === 'string')
    return { kind: 'user', passkey: value.passkey }
  if (value.kind === 'torrent' && 'infoHash' in value && typeof value.infoHash === 'string')
    return { kind: 'torrent', infoHash: value.infoHash }
  if (value.kind === 'expelled' && 'userId' in value && typeof value.userId === 'string')
    return { kind: 'expelled', userId: value.userId }
  return undefined
}
