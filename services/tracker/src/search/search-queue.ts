import { apiError } from '../errors.ts'

/** The bounds of searches. */
export type SearchBounds = {
  /** Concurrent searches, each on its own connection. */
  readonly atOnce: number
  /** Per member: running searches, and searches in progress, including waiting ones. */
  readonly runningEach: number
  readonly underWayEach: number
  /** Searches in progress of all members. */
  readonly underWay: number
  /** How long a search can wait for its turn, and how long its statements can then take together. */
  readonly waitMs: number
  readonly runMs: number
  /** The part of each search that is free; most searches are shorter. */
  readonly freeMs: number
  /** The search time of a member beyond that: at once, and as a share of time in the long run. */
  readonly burstMs: number
  readonly share: number
}

/** The reasons for refusing a search: too many or too long searches of the member, too many in total, or a timeout. */
export const SEARCH_REFUSALS = ['member', 'all', 'time'] as const

/** Counts refused searches. */
export type SearchCounters = { countRefused(reason: (typeof SEARCH_REFUSALS)[number]): void }

/** A search has used up its time. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

const TOO_LONG = 'The search took too long. Use more specific words, or sort by newest.'

type Waiting = { readonly start: () => void }

export type SearchQueue = ReturnType<typeof createSearchQueue>

/**
 * Runs searches in fair turns. The next turn goes to the member with the fewest running searches, then to the one whose
 * last turn is the longest ago, so a member never waits for more than one search of another.
 */
export function createSearchQueue(bounds: SearchBounds, counters: SearchCounters) {
  const underWay = createTally()
  const running = createTally()
  const allowance = createAllowance(bounds)
  /** By member, in the order of their turns. */
  const waiting = new Map<string, Set<Waiting>>()

  function nextMember(): string | undefined {
    let next: string | undefined
    for (const member of waiting.keys()) {
      const isFree = running.of(member) < bounds.runningEach
      if (isFree && (next === undefined || running.of(member) < running.of(next))) next = member
    }
    return next
  }

  function startNext(): void {
    while (running.total() < bounds.atOnce) {
      const member = nextMember()
      const own = member === undefined ? undefined : waiting.get(member)
      if (member === undefined || own === undefined) return
      const [first] = own
      if (first !== undefined) leave(member, first)
      // Moves the member behind all others.
      if (waiting.delete(member)) waiting.set(member, own)
      running.add(member, 1)
      first?.start()
    }
  }

  function leave(member: string, entry: Waiting): void {
    const own = waiting.get(member)
    own?.delete(entry)
    if (own?.size === 0) waiting.delete(member)
  }

  /** @throws ApiError UNAVAILABLE if the turn does not come in time */
  function takeTurn(member: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        leave(member, entry)
        counters.countRefused('all')
        reject(tooMany())
      }, bounds.waitMs)
      const own = waiting.get(member) ?? new Set()
      waiting.set(member, own.add(entry))
      startNext()
    })
  }

  return {
    /**
     * Counts a search request from its arrival to its response.
     *
     * @throws ApiError RATE_LIMITED if the member has too many searches in progress, or used too much search time;
     *   UNAVAILABLE if there are too many searches in total
     */
    async admit<T>(member: string, work: () => Promise<T>): Promise<T> {
      if (underWay.of(member) >= bounds.underWayEach) {
        counters.countRefused('member')
        throw apiError('RATE_LIMITED', 'You have too many searches in progress. Wait for some of them to finish.')
      }
      if (allowance.isUsedUp(member)) {
        counters.countRefused('member')
        throw apiError(
          'RATE_LIMITED',
          'Your recent searches took too long. Wait a moment, then use more specific words.',
        )
      }
      if (underWay.total() >= bounds.underWay) {
        counters.countRefused('all')
        throw tooMany()
      }
      underWay.add(member, 1)
      try {
        return await work()
      } finally {
        underWay.add(member, -1)
      }
    },

    /**
     * Runs a search of a member once it has its turn.
     *
     * @param work receives its time in milliseconds, and throws OutOfTime if that is not enough
     * @throws ApiError UNAVAILABLE if the turn does not come in time, or the search takes too long
     */
    async run<T>(member: string, work: (milliseconds: number) => Promise<T>): Promise<T> {
      await takeTurn(member)
      const started = performance.now()
      try {
        return await work(bounds.runMs)
      } catch (error) {
        if (!(error instanceof OutOfTime)) throw error
        counters.countRefused('time')
        throw apiError('UNAVAILABLE', TOO_LONG, { cause: error })
      } finally {
        allowance.spend(member, Math.max(0, performance.now() - started - bounds.freeMs))
        running.add(member, -1)
        startNext()
      }
    },

    counts: () => ({
      running: running.total(),
      waiting: [...waiting.values()].reduce((sum, own) => sum + own.size, 0),
    }),
  }
}

function tooMany(): Error {
  return apiError('UNAVAILABLE', 'Too many concurrent searches. Try again in a moment.')
}

/** Beyond this many members, those with a full allowance are forgotten. */
const MAX_ALLOWANCES = 1_000

/** The search time of each member, which is refilled over time up to a burst. */
function createAllowance({ burstMs, share }: Pick<SearchBounds, 'burstMs' | 'share'>) {
  const spent = new Map<string, { readonly ms: number; readonly at: number }>()
  const spentBy = (member: string, now: number): number => {
    const { ms, at } = spent.get(member) ?? { ms: 0, at: now }
    return Math.max(0, ms - (now - at) * share)
  }
  return {
    isUsedUp: (member: string): boolean => spentBy(member, performance.now()) >= burstMs,
    spend(member: string, ms: number): void {
      const now = performance.now()
      spent.set(member, { ms: spentBy(member, now) + ms, at: now })
      if (spent.size <= MAX_ALLOWANCES) return
      for (const each of spent.keys()) if (spentBy(each, now) === 0) spent.delete(each)
    },
  }
}

/** Counts by member. */
function createTally() {
  const counts = new Map<string, number>()
  let total = 0
  return {
    of: (member: string): number => counts.get(member) ?? 0,
    total: (): number => total,
    add(member: string, change: 1 | -1): void {
      total += change
      const count = (counts.get(member) ?? 0) + change
      if (count === 0) counts.delete(member)
      else counts.set(member, count)
    },
  }
}

/** Runs work for a key, one run at a time. */
export type Coalescer<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>

type Run<Result> = { readonly ended: Promise<void>; next: Promise<Result> | undefined }

/**
 * Shares runs among concurrent callers with the same key, since the tools of many users search on the hour. A call during
 * a run of its key waits for the next run, which all calls of that time share. So a run always starts after the call, and
 * its result includes everything stored before.
 *
 * @returns a function that fails if the run fails
 */
export function createCoalescer<Result>(): Coalescer<Result> {
  const underWay = new Map<string, Run<Result>>()

  function start(key: string, run: () => Promise<Result>): Promise<Result> {
    const result = run()
    const entry: Run<Result> = {
      ended: result.then(
        () => end(key, entry),
        () => end(key, entry),
      ),
      next: undefined,
    }
    underWay.set(key, entry)
    return result
  }

  function end(key: string, entry: Run<Result>): void {
    if (entry.next === undefined) underWay.delete(key)
  }

  return (key, run) => {
    const current = underWay.get(key)
    if (current === undefined) return start(key, run)
    current.next ??= current.ended.then(() => start(key, run))
    return current.next
  }
}
