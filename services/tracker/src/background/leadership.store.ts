import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { newId } from '@vault-and-tracker/service-kit/ids'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import type { Cluster, Redis } from 'ioredis'
import type { Leadership } from './background.ts'

const KEY = 'tracker:leader'
/** A leader that is gone is replaced after this. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis. It only saves work: two leaders for a moment, as when one was frozen, do no harm,
 * since what they do is safe to be done by several.
 */
export function createLeadership(redis: Redis | Cluster): Leadership {
  const me = newId()
  const holds = async (): Promise<boolean> => (await redis.get(KEY)) === me
  return {
    lead: async () => {
      try {
        if ((await redis.set(KEY, me, 'PX', LEASE_MS, 'NX')) === 'OK') return true
        if (!(await holds())) return false
        await redis.pexpire(KEY, LEASE_MS)
        return true
      } catch (error) {
        throw isRedisUnavailable(error) ? new UnavailableError('redis', { cause: error }) : error
      }
    },
    resign: async () => {
      if (await holds().catch(() => false)) await redis.del(KEY).catch(() => undefined)
    },
  }
}
