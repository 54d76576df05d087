import { apiError } from '../errors.ts'

/** How many searches there may be. */
export type SearchBounds = {
  /** Running at once; each has a connection of its own. */
  readonly atOnce: number
  /** Of one member: running at once, and under way, those that wait included. */
  readonly runningEach: number
  readonly underWayEach: number
  /** Of all members together: under way. */
  readonly underWay: number
  /** How long a search waits for its turn, and how long it takes from then on, all of its statements together. */
  readonly waitMs: number
  readonly runMs: number
  /** How long of each search counts for nothing, as most are shorter. */
  readonly freeMs: number
  /** How long the searches of a member run in a row beyond that, and which share of the time in the long run. */
  readonly burstMs: number
  readonly share: number
}

/** Why a search was refused: too many or too long ones of the member, too many of all together, or its time was over. */
export const SEARCH_REFUSALS = ['member', 'all', 'time'] as const

/** What counts searches. */
export type SearchCounters = { countRefused(reason: (typeof SEARCH_REFUSALS)[number]): void }

/** The time of a search is over. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

const TOO_LONG = 'The search took too long. Use more words or rarer ones, or sort by the newest.'

type Waiting = { readonly start: () => void }

export type SearchTurns = ReturnType<typeof createSearchTurns>

/**
 * Lets searches run in fair turns: next is the member with the fewest running, then the one whose last turn is the longest
 * ago. However many searches a member has waiting, another one waits for one of them at most.
 */
export function createSearchTurns(bounds: SearchBounds, counters: SearchCounters) {
  const underWay = createTally()
  const running = createTally()
  const allowance = createAllowance(bounds)
  /** In the order in which members have their next turn. */
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
      // From now on it is behind all others.
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

  /** @throws ApiError UNAVAILABLE where it is not this search's turn in time */
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
     * Counts a request that searches, from its arrival to its answer.
     *
     * @throws ApiError RATE_LIMITED where the member has too many under way, or searched for too long lately; UNAVAILABLE
     *   where all members together have too many
     */
    async admit<T>(member: string, work: () => Promise<T>): Promise<T> {
      if (underWay.of(member) >= bounds.underWayEach) {
        counters.countRefused('member')
        throw apiError('RATE_LIMITED', 'You have too many searches under way. Wait until some of them have ended.')
      }
      if (allowance.isUsedUp(member)) {
        counters.countRefused('member')
        throw apiError(
          'RATE_LIMITED',
          'Your searches took too long lately. Use more words or rarer ones, and wait a moment.',
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
     * Runs a search of a member when it is its turn.
     *
     * @param work gets its time in milliseconds, and throws OutOfTime when that is over
     * @throws ApiError UNAVAILABLE where it is not its turn in time, or it takes longer than it may
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
  return apiError('UNAVAILABLE', 'Too many searches at once. Try again in a moment.')
}

/** Beyond so many members, those who have all of theirs again are forgotten. */
const MAX_ALLOWANCES = 1_000

/** How long each member may search, which grows with time up to a burst. */
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

/** Counts by member, without those that have none. */
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
