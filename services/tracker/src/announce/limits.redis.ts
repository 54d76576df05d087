import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Cluster, Redis } from 'ioredis'
import type { SharedCounts } from './limits.ts'

/** Shared counts in Redis. */
export function createSharedCounts(redis: Redis | Cluster): SharedCounts {
  return {
    add: async (key, by, windowSeconds) => {
      const name = `limit:${key}`
      const results = await redis.multi().incrby(name, by).expire(name, windowSeconds, 'NX').exec()
      const [error, total] = results?.[0] ?? [null, undefined]
      if (error) throw error
      if (typeof total !== 'number') throw new UnavailableError('redis')
      return total
    },
    read: async (key) => {
      const count = await redis.get(`limit:${key}`)
      return count === null ? undefined : Number(count)
    },
  }
}
