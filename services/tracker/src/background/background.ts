import { newId } from '@vault-and-tracker/service-kit/ids'
import type { RedisFunctions } from '../swarm/wire.ts'

/** Chooses one of several processes for work that one of them has to do. */
export type Leadership = {
  /**
   * Acquires or renews leadership.
   *
   * @returns whether this process leads for now
   * @throws UnavailableError when Redis is unavailable
   */
  acquire(): Promise<boolean>
  /** Gives leadership up, so that another process can acquire it at once. */
  release(): Promise<void>
}

/** After this a leader that stopped is replaced. */
const LEASE_MS = 10_000

/**
 * Leadership by a lease in Redis. Two leaders for a moment, as after one was suspended, do no harm: leadership only
 * saves work, and what leaders do is safe to be done by several.
 *
 * @param functions those of lua/background.lua, which a full Redis carries out too
 * @param work what is led, where it is not the engine's background tasks: each has a leader of its own
 */
export function createLeadership(functions: RedisFunctions, work?: string): Leadership {
  const key = work === undefined ? 'tracker:leader' : `tracker:leader:${work}`
  const ownId = newId()
  return {
    acquire: async () => (await functions.call('lead', [key], [ownId, String(LEASE_MS)])) === 1,
    release: async () => {
      await functions.call('resign', [key], [ownId]).catch(() => undefined)
    },
  }
}
