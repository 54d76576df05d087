import type { Redis } from 'ioredis'
import type { Setup, SetupStore } from './factors.ts'

const SETUP_MS = 10 * 60_000

const keyOf = (userId: string): string => `factor-setup:${userId}`

/** Setups in Redis. A new one replaces the last. */
export function createSetupStore(redis: Redis): SetupStore {
  return {
    async save(userId, setup) {
      await redis.set(keyOf(userId), JSON.stringify(setup), 'PX', SETUP_MS)
    },
    async find(userId) {
      const text = await redis.get(keyOf(userId))
      return text === null ? undefined : (JSON.parse(text) as Setup)
    },
    async take(userId, { secret }) {
      const text = await redis.getdel(keyOf(userId))
      return text !== null && (JSON.parse(text) as Setup).secret === secret
    },
  }
}
