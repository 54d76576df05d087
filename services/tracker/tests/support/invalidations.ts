import { setImmediate as turn } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Invalidation, invalidationChannel } from '../../src/invalidation/invalidation.ts'

/** Notifies the tracker of a direct change in the database, and waits until the notification has arrived. */
export async function tellOfChange(redis: Redis, change: Invalidation): Promise<void> {
  await redis.publish(invalidationChannel(redis.options.db ?? 0), JSON.stringify(change))
  await untilHeard(redis)
}

/** Waits until a tracker in this process has received all earlier notifications. */
export async function untilHeard(redis: Redis): Promise<void> {
  // When Redis answers, it has written to all that listen; in the turn after that they have read it.
  await redis.ping()
  await turn()
}
