import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { AuditQuery } from '../audit/audit.ts'

/** The times that can be looked at, in hours. */
export const RANGES = { '24h': 24, '7d': 168 } as const

/** One of these times. */
export type Range = keyof typeof RANGES

/** What was requested in an hour; null in all where the hour is not counted. */
export type HourOfActivity = {
  readonly start: Date
  /** Fetches of secrets by applications. */
  readonly fetches: number | null
  /** Secrets that applications wrote or deleted. */
  readonly writes: number | null
  /** Requests that were refused. */
  readonly refused: number | null
}

/** What the entries of the log say of an hour. `entries` is how many there are. */
export type CountedHour = {
  /** The start of the hour in milliseconds since the Unix epoch. */
  readonly start: number
  readonly entries: number
  readonly fetches: number
  readonly writes: number
  readonly refused: number
}

/** Whose entries are counted; undefined for all. */
type Visible = Pick<AuditQuery, 'projectIds' | 'projectUids'>

/** Counts entries of the audit log. */
export type ActivityStore = {
  /**
   * The hours with entries of a span of time.
   *
   * @param query `most` of the newest entries are counted, so that the work is bounded; `projects` whose entries are counted
   */
  countHours(query: { since: Date; until: Date; projects: Visible; most: number }): Promise<readonly CountedHour[]>
}

/** The requests over time. */
export type Activity = ReturnType<typeof createActivity>

const HOUR_MS = 3_600_000

/** No more entries than this are read for an answer. */
const MOST_ENTRIES = 250_000

/** Creates what administrators see of the requests over time. */
export function createActivity(deps: { store: ActivityStore; clock: Clock; most?: number }) {
  const { store, clock, most = MOST_ENTRIES } = deps
  return {
    /** The whole hours of a range up to now, oldest first. Hours before the newest entries that are counted are null. */
    of: async (range: Range, projects: Visible): Promise<readonly HourOfActivity[]> => {
      const current = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
      const first = current - (RANGES[range] - 1) * HOUR_MS
      const counted = await store.countHours({
        since: new Date(first),
        // Clocks of replicas differ a little.
        until: new Date(current + 2 * HOUR_MS),
        projects,
        most,
      })
      const isCut = counted.reduce((sum, { entries }) => sum + entries, 0) >= most
      const oldest = Math.min(...counted.map(({ start }) => start))
      const byStart = new Map(counted.map((hour) => [hour.start, hour]))
      return Array.from({ length: RANGES[range] }, (_, index) => {
        const start = first + index * HOUR_MS
        const { fetches, writes, refused } = byStart.get(start) ?? NOTHING
        // Of the oldest hour only a part was counted.
        if (isCut && start <= oldest) return { start: new Date(start), fetches: null, writes: null, refused: null }
        return { start: new Date(start), fetches, writes, refused }
      })
    },
  }
}

const NOTHING = { fetches: 0, writes: 0, refused: 0 }
