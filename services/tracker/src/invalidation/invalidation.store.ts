import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Redis } from 'ioredis'
import { invalidationChannel, type PublishInvalidation } from './invalidation.ts'

/** Publishes invalidations as JSON on Redis. */
export function createInvalidationPublisher(redis: Redis, logger: Logger): PublishInvalidation {
  const channel = invalidationChannel(redis.options.db ?? 0)
  return async (...changes) => {
    const results = await Promise.allSettled(changes.map((change) => redis.publish(channel, JSON.stringify(change))))
    for (const result of results)
      if (result.status === 'rejected')
        logger.warn({ err: result.reason as unknown }, 'could not publish an invalidation; caches expire by themselves')
  }
}
