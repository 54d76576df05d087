import { setImmediate as turn } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Invalidation, invalidationChannel } from '../../src/invalidation/invalidation.ts'

/** Tells the tracker of a change that was made behind its back, and returns when it has heard. */
export async function tellOfChange(redis: Redis, change: Invalidation): Promise<void> {
  await redis.publish(invalidationChannel(redis.options.db ?? 0), JSON.stringify(change))
  await untilHeard(redis)
}

/** Until a tracker in this process has heard what was published before. */
export async function untilHeard(redis: Redis): Promise<void> {
  // When Redis answers, it has written to all that listen; in the turn after that they have read it.
  await redis.ping()
  await turn()
}
