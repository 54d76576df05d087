import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Cluster, Redis } from 'ioredis'
import { createRedisFunctions } from './functions.redis.ts'

/** Elects one of several processes for work that only one has to do. */
export type Leadership = {
  /**
   * Acquires or renews leadership.
   *
   * @returns whether this process leads
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  acquire(): Promise<boolean>
  /** Releases leadership, so that another process can acquire it immediately. */
  release(): Promise<void>
}

/** A leader that has stopped is replaced after this time. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis, which also works if Redis is full. Two processes may lead for a moment, for example
 * after one was suspended. That does no harm: leadership only saves work, and its tasks may run in several processes.
 *
 * @param work the work that the leader does; the engine's background tasks by default. Each work has its own leader
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
