import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** Counts shared by all processes. */
export type SharedCounts = {
  /**
   * Adds to the count of a key, which is deleted after the window.
   *
   * @returns the count
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  add(key: string, by: number, windowSeconds: number): Promise<number>
}

/** A limit per minute, for each user or address. */
export type CountLimit = {
  /**
   * Counts one more.
   *
   * @param key the user's id as text, or `limitKeyOf` an address
   * @returns 0, or the seconds until the next one is accepted. Most calls do not use Redis.
   * @throws an error that `isUnavailable` recognises if the shared count is needed and Redis is unavailable
   */
  take(key: string): number | Promise<number>
}

const WINDOW_SECONDS = 60
/** Below this share of the limit a process counts locally, so that most calls need no Redis command. */
const LOCAL_SHARE = 0.1

type Count = { window: number; taken: number; shared: number }

/**
 * Creates a limit per minute. Once a process has counted a tenth of the limit for a key, it adds that count, and every
 * further one, to the shared count.
 *
 * @param options `limit` 0 means no limit; `name` separates the keys of different limits
 */
export function createCountLimit(options: {
  name: string
  limit: number
  counts: SharedCounts
  clock: Clock
}): CountLimit {
  const { name, limit, counts, clock } = options
  if (limit === 0) return { take: () => 0 }
  const localLimit = Math.floor(limit * LOCAL_SHARE)
  let countOf = new Map<string, Count>()
  let currentWindow = 0

  const takeShared = async (key: string, count: Count, by: number, wait: number): Promise<number> => {
    const shared = await counts.add(`${name}:${key}:${String(count.window)}`, by, WINDOW_SECONDS * 2)
    count.shared = Math.max(count.shared, shared)
    return count.shared > limit ? wait : 0
  }

  return {
    take: (key) => {
      const seconds = clock.now() / 1000
      const window = Math.floor(seconds / WINDOW_SECONDS)
      if (window !== currentWindow) {
        countOf = new Map()
        currentWindow = window
      }
      let count = countOf.get(key)
      if (!count) countOf.set(key, (count = { window, taken: 0, shared: 0 }))
      const wait = Math.max(1, Math.ceil((window + 1) * WINDOW_SECONDS - seconds))
      if (count.shared > limit || count.taken >= limit) return wait
      count.taken += 1
      if (count.taken < localLimit) return 0
      return takeShared(key, count, count.taken === Math.max(localLimit, 1) ? count.taken : 1, wait)
    },
  }
}
