import { newId } from '@vault-and-tracker/service-kit/ids'
import { orRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import type { Cluster, Redis } from 'ioredis'
import type { Leadership } from './background.ts'

const KEY = 'tracker:leader'
/** After this a leader that stopped is replaced. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis. Two leaders for a moment, as after one was suspended, do no harm: leadership only
 * saves work, and what leaders do is safe to be done by several.
 */
export function createLeadership(redis: Redis | Cluster): Leadership {
  const ownId = newId()
  const isHolder = async (): Promise<boolean> => (await redis.get(KEY)) === ownId
  return {
    acquire: () =>
      orRedisUnavailable(async () => {
        if ((await redis.set(KEY, ownId, 'PX', LEASE_MS, 'NX')) === 'OK') return true
        if (!(await isHolder())) return false
        await redis.pexpire(KEY, LEASE_MS)
        return true
      }),
    release: async () => {
      if (await isHolder().catch(() => false)) await redis.del(KEY).catch(() => undefined)
    },
  }
}
