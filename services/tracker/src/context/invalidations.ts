import type { Resources } from '@vault-and-tracker/service-kit/lifecycle/resources'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Redis } from 'ioredis'
import { createInvalidationPublisher, subscribeToInvalidations } from '../invalidation/invalidation.redis.ts'
import type { Invalidation, InvalidationHandlers, PublishInvalidation } from '../invalidation/invalidation.ts'

/**
 * Delivers changes by any process to every cache of this process, over one connection. Changes by this process are
 * delivered immediately, so that a client reads the value it has just changed.
 */
export type Invalidations = {
  readonly publish: PublishInvalidation
  /** Adds a cache, which receives subsequent changes. */
  addCache(cache: InvalidationHandlers): void
}

/** @throws an error that `isUnavailable` recognises if Redis does not respond */
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
