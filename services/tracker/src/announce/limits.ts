import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Admission } from '../swarm/swarm.ts'

/** Counts shared by all processes. */
export type SharedCounts = {
  /**
   * Adds to the count of a key, which is deleted after the window.
   *
   * @returns the count
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  add(key: string, by: number, windowSeconds: number): Promise<number>
  /**
   * The count of a key; undefined if there is none.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  read(key: string): Promise<number | undefined>
}

/** A limit per minute, for each user or address. */
export type CountLimit = {
  /**
   * Counts one more.
   *
   * @param key the user's id as text, or `limitKeyOf` an address
   * @param limit instead of the usual one; 0 means no limit
   * @returns 0, or the seconds until the next one is accepted. Most calls do not use Redis.
   * @throws an error that `isUnavailable` recognises if the shared count is needed and Redis is unavailable
   */
  take(key: string, limit?: number): number | Promise<number>
}

const WINDOW_SECONDS = 60
/** Below this share of the limit a process counts locally, so that most calls need no Redis command. */
const LOCAL_SHARE = 0.1

/** The value of a key in a window, which `create` makes. Those of earlier windows are dropped. */
function perWindow<Value>(create: (window: number) => Value): (key: string, window: number) => Value {
  let values = new Map<string, Value>()
  let currentWindow = 0
  return (key, window) => {
    if (window !== currentWindow) {
      values = new Map()
      currentWindow = window
    }
    let value = values.get(key)
    if (value === undefined) values.set(key, (value = create(window)))
    return value
  }
}

type Count = { readonly window: number; taken: number; shared: number }

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
  const { name, counts, clock } = options
  const countOf = perWindow<Count>((window) => ({ window, taken: 0, shared: 0 }))

  const addShared = async (key: string, count: Count, by: number): Promise<void> => {
    const shared = await counts.add(`${name}:${key}:${String(count.window)}`, by, WINDOW_SECONDS * 2)
    count.shared = Math.max(count.shared, shared)
  }

  return {
    take: (key, limit = options.limit) => {
      if (limit === 0) return 0
      const seconds = clock.now() / 1000
      const window = Math.floor(seconds / WINDOW_SECONDS)
      const count = countOf(key, window)
      const wait = Math.max(1, Math.ceil((window + 1) * WINDOW_SECONDS - seconds))
      if (count.shared > limit || count.taken >= limit) return wait
      count.taken += 1
      const localLimit = Math.floor(limit * LOCAL_SHARE)
      if (count.taken < localLimit) return 0
      const counting = addShared(key, count, count.taken === Math.max(localLimit, 1) ? count.taken : 1)
      return counting.then(() => (count.shared > limit ? wait : 0))
    },
  }
}

/** An announce over the limit. */
export class OverLimit {
  /** Seconds until announces are accepted again. */
  readonly wait: number
  readonly admits: Admission
  private readonly count: OverCount

  constructor(wait: number, admits: Admission, count: OverCount) {
    this.wait = wait
    this.admits = admits
    this.count = count
  }

  /** Counts that a rule refused it, for example because the torrent is unknown. */
  refusedByRule(): void {
    this.count.examined += RULE_COST
  }
}

/** The limit of announces per minute, for each user or address. */
export type AnnounceLimit = {
  /**
   * Counts one more. The parameters are those of `CountLimit.take`.
   *
   * @returns undefined if it is within the limit
   * @throws an error that `isUnavailable` recognises if a shared count is needed and Redis is unavailable
   */
  take(key: string, limit?: number): OverLimit | undefined | Promise<OverLimit | undefined>
}

/** New clients are admitted up to this multiple of the most announces in one of the last minutes over the limit. */
const GROWTH = 3
const GROWTH_MINUTES = 5
/** The announces over the limit that a process examines per minute, as a multiple of the limit. It refuses the others. */
const EXAMINED = 50
/** An announce that a rule refuses counts this many times, because each unknown torrent is a query of the database. */
const RULE_COST = 50

type OverCount = {
  /** Announces over the limit in this process. */
  examined: number
  /** The number of them that may be of new clients, in all processes. */
  allowance: number | Promise<number> | undefined
  /** The number of announces that used the allowance: in this process, and in all processes. */
  added: number
  shared: number
}

/**
 * Creates the limit of announces. A user over the limit keeps the clients that announce regularly. The number of new
 * clients grows from minute to minute, so that a client with many torrents is soon known with all of them.
 *
 * @param options `isStrict` refuses every announce over the limit
 */
export function createAnnounceLimit(options: {
  limit: number
  counts: SharedCounts
  clock: Clock
  isStrict: boolean
}): AnnounceLimit {
  const { counts, clock, isStrict } = options
  const within = createCountLimit({ ...options, name: 'announce' })
  const countOf = perWindow<OverCount>(() => ({ examined: 0, allowance: undefined, added: 0, shared: 0 }))

  const keyOf = (key: string, window: number): string => `announce-over:${key}:${String(window)}`
  const add = (key: string, window: number, by: number): Promise<number> =>
    counts.add(keyOf(key, window), by, WINDOW_SECONDS * (GROWTH_MINUTES + 1))

  /** Reads how far the user was over the limit lately, and records that they are over it now. */
  const loadAllowance = async (key: string, limit: number, window: number): Promise<number> => {
    const earlier = Array.from({ length: GROWTH_MINUTES }, (_, i) => counts.read(keyOf(key, window - 1 - i)))
    const [found] = await Promise.all([Promise.all(earlier), add(key, window, 0)])
    const known = found.filter((count) => count !== undefined)
    return known.length === 0 ? 0 : Math.min(GROWTH * (limit + Math.max(...known)), EXAMINED * limit) - limit
  }

  const admitNew = async (key: string, window: number, count: OverCount, allowance: number): Promise<Admission> => {
    if (count.added >= allowance || count.shared >= allowance) return 'known'
    count.added += 1
    count.shared = Math.max(count.shared, await add(key, window, 1))
    return count.shared > allowance ? 'known' : 'all'
  }

  const load = async (key: string, limit: number, window: number, count: OverCount): Promise<number> => {
    try {
      return (count.allowance = await (count.allowance ??= loadAllowance(key, limit, window)))
    } catch (error) {
      count.allowance = undefined
      throw error
    }
  }

  const examine = (key: string, limit: number, wait: number): OverLimit | Promise<OverLimit> => {
    const window = Math.floor(clock.now() / 1000 / WINDOW_SECONDS)
    const count = countOf(key, window)
    if (isStrict || count.examined >= EXAMINED * limit) return new OverLimit(wait, 'none', count)
    count.examined += 1
    const { allowance, added, shared } = count
    if (typeof allowance === 'number' && (added >= allowance || shared >= allowance))
      return new OverLimit(wait, 'known', count)
    return load(key, limit, window, count)
      .then((loaded) => admitNew(key, window, count, loaded))
      .then((admits) => new OverLimit(wait, admits, count))
  }

  return {
    take: (key, limit = options.limit) => {
      const wait = within.take(key, limit)
      if (wait instanceof Promise) return wait.then((found) => (found > 0 ? examine(key, limit, found) : undefined))
      return wait > 0 ? examine(key, limit, wait) : undefined
    },
  }
}
