import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Redis } from 'ioredis'
import { createInvalidationPublisher, subscribeToInvalidations } from '../invalidation/invalidation.redis.ts'
import type { InvalidationHandlers, PublishInvalidation } from '../invalidation/invalidation.ts'

/** What changed anywhere, told to every cache of this process, over one connection. */
export type Invalidations = {
  readonly publish: PublishInvalidation
  /** Adds a cache that is to hear of changes from now on. */
  addCache(cache: InvalidationHandlers): void
  close(): void
}

/** @throws UnavailableError when Redis does not answer */
export async function createInvalidations(options: {
  url: string
  redis: Redis
  logger: Logger
}): Promise<Invalidations> {
  const { url, redis, logger } = options
  const caches: InvalidationHandlers[] = []
  const subscription = await subscribeToInvalidations({
    url,
    logger,
    onChange: (change) => {
      for (const cache of caches) cache.onChange(change)
    },
    onMissed: () => {
      for (const cache of caches) cache.onMissed()
    },
  })
  return {
    publish: createInvalidationPublisher(redis, logger),
    addCache: (cache) => void caches.push(cache),
    close: () => subscription.close(),
  }
}
