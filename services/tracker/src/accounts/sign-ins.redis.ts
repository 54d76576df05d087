import type { Redis } from 'ioredis'
import { MAX_PENDING, PENDING_MS, type PendingSignIn, type PendingSignInStore } from './sign-ins.ts'

const keyOf = (userId: string): string => `pending-sign-ins:${userId}`

/** Pending sign-ins in Redis: one expiring list per account, newest first. */
export function createPendingSignInStore(redis: Redis): PendingSignInStore {
  return {
    async add(pending) {
      const key = keyOf(pending.userId)
      await redis
        .multi()
        .lpush(key, JSON.stringify(pending))
        .ltrim(key, 0, MAX_PENDING - 1)
        .pexpire(key, PENDING_MS)
        .exec()
    },
    async listOf(userId) {
      const texts = await redis.lrange(keyOf(userId), 0, -1)
      return texts.map((text) => JSON.parse(text) as PendingSignIn)
    },
    async take(pending) {
      return (await redis.lrem(keyOf(pending.userId), 1, JSON.stringify(pending))) > 0
    },
  }
}
