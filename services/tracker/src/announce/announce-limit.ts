import type { Clock } from '@vault-and-tracker/service-kit/clock'

/** Counts that all processes share. */
export type SharedCounts = {
  /** Adds to the count of a key and returns it; the count vanishes with the window. */
  add(key: string, by: number, windowSeconds: number): Promise<number>
}

/** A limit on announces per user, or per address. */
export type AnnounceLimit = {
  /**
   * Counts one announce.
   *
   * @returns seconds until the next one is welcome when it is over the limit, else 0; at once for most
   * @throws UnavailableError when it depends on a shared count that cannot be read
   */
  take(key: string): number | Promise<number>
}

const WINDOW_SECONDS = 60
/** A user below this part of the limit in a process is counted there only, so that Redis is not asked about most. */
const PRIVATE_SHARE = 0.1

type Count = { window: number; taken: number; shared: number }

/**
 * Creates the limit: so many announces in each minute. A process tells the others how many it took from a user once
 * these are a tenth of the limit, and of each one from then on.
 *
 * @param options `limit` 0 for none
 */
export function createAnnounceLimit(options: { limit: number; counts: SharedCounts; clock: Clock }): AnnounceLimit {
  const { limit, counts, clock } = options
  if (limit === 0) return { take: () => 0 }
  const quiet = Math.floor(limit * PRIVATE_SHARE)
  let users = new Map<string, Count>()
  let current = 0

  const share = async (key: string, count: Count, by: number, wait: number): Promise<number> => {
    count.shared = Math.max(count.shared, await counts.add(`${key}:${String(count.window)}`, by, WINDOW_SECONDS * 2))
    return count.shared > limit ? wait : 0
  }

  return {
    take: (key) => {
      const seconds = clock.now() / 1000
      const window = Math.floor(seconds / WINDOW_SECONDS)
      if (window !== current) {
        users = new Map()
        current = window
      }
      let count = users.get(key)
      if (!count) users.set(key, (count = { window, taken: 0, shared: 0 }))
      const wait = Math.max(1, Math.ceil((window + 1) * WINDOW_SECONDS - seconds))
      if (count.shared > limit || count.taken >= limit) return wait
      count.taken += 1
      if (count.taken < quiet) return 0
      return share(key, count, count.taken === Math.max(quiet, 1) ? count.taken : 1, wait)
    },
  }
}
