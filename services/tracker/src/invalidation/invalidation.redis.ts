import type { Resources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { type Subscription, subscribeToChannel } from '@vault-and-tracker/service-kit/redis/subscription'
import type { Redis } from 'ioredis'
import {
  type Invalidation,
  type InvalidationHandlers,
  type Invalidations,
  invalidationChannel,
  type PublishInvalidation,
} from './invalidation.ts'

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

/** Subscribes to invalidations. Calls `onMissed` after every reconnection. */
export function subscribeToInvalidations(
  options: { url: string; logger: Logger; heartbeatMs?: number } & InvalidationHandlers,
): Promise<Subscription> {
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
 * Subscribes to the invalidations of all processes.
 *
 * @throws an error that `isUnavailable` recognises if Redis does not respond
 */
export async function createInvalidations(options: {
  url: string
  redis: Redis
  logger: Logger
  resources: Resources
}): Promise<Invalidations> {
  const { url, redis, logger, resources } = options
  const caches: InvalidationHandlers[] = []
  const deliver = (change: Invalidation): void => {
    for (const cache of caches) cache.onChange(change)
  }
  const publishToAll = createInvalidationPublisher(redis, logger)
  const subscription = await subscribeToInvalidations({
    url,
    logger,
    onChange: deliver,
    onMissed: () => {
      for (const cache of caches) cache.onMissed()
    },
  })
  resources.defer(() => subscription.close())
  return {
    publish: async (...changes) => {
      for (const change of changes) deliver(change)
      await publishToAll(...changes)
    },
    addCache: (cache) => void caches.push(cache),
  }
}

/** Parses a message; undefined for a kind that only a later release knows. */
function parseInvalidation(message: string): Invalidation | undefined {
  let value: unknown
  try {
    value = JSON.parse(message)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  if (value.kind === 'site-settings' || value.kind === 'categories' || value.kind === 'torznab-settings')
    return { kind: value.kind }
  if (value.kind === 'user' && 'passkey' in value && typeof value.passkey === 'string')
    return { kind: 'user', passkey: value.passkey }
  if (value.kind === 'torrent' && 'infoHash' in value && typeof value.infoHash === 'string')
    return { kind: 'torrent', infoHash: value.infoHash }
  if ((value.kind === 'expelled' || value.kind === 'revoked') && 'userId' in value && typeof value.userId === 'string')
    return { kind: value.kind, userId: value.userId }
  return undefined
}
