import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Cluster, Redis } from 'ioredis'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { Leadership } from './leadership.ts'

/** After this a leader that stopped is replaced. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis, also in one that is full. Two leaders for a moment, as after one was suspended, do no
 * harm: leadership only saves work, and what leaders do is safe to be done by several.
 *
 * @param work what is led, where it is not the engine's background tasks: each has a leader of its own
 */
export function createLeadership(redis: Redis | Cluster, work?: string): Leadership {
  const functions = createRedisFunctions(redis, 'background')
  const key = work === undefined ? 'tracker:leader' : `tracker:leader:${work}`
  const ownId = newId()
  return {
    acquire: async () => (await functions.call('lead', [key], [ownId, String(LEASE_MS)])) === 1,
    release: async () => {
      await functions.call('resign', [key], [ownId]).catch(() => undefined)
    },
  }
}
