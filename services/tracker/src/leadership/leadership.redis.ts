import { newId } from '@vault-and-tracker/service-kit/ids'
import type { Cluster, Redis } from 'ioredis'
import type { Leadership } from './leadership.ts'

/** After this a leader that stopped is replaced. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis. Two leaders for a moment, as after one was suspended, do no harm: leadership only
 * saves work, and what leaders do is safe to be done by several.
 *
 * @param work what is led, where it is not the engine's background tasks: each has a leader of its own
 */
export function createLeadership(redis: Redis | Cluster, work?: string): Leadership {
  const key = work === undefined ? 'tracker:leader' : `tracker:leader:${work}`
  const ownId = newId()
  const isHolder = async (): Promise<boolean> => (await redis.get(key)) === ownId
  return {
    acquire: async () => {
      if ((await redis.set(key, ownId, 'PX', LEASE_MS, 'NX')) === 'OK') return true
      if (!(await isHolder())) return false
      await redis.pexpire(key, LEASE_MS)
      return true
    },
    release: async () => {
      if (await isHolder().catch(() => false)) await redis.del(key).catch(() => undefined)
    },
  }
}
