import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { VisibleProjects } from '../audit/audit.ts'

/** The ranges, in hours. */
export const RANGES = { '24h': 24, '7d': 168 } as const

export type Range = keyof typeof RANGES

/** The requests of an hour; null if the hour was not counted. */
export type HourOfActivity = {
  readonly start: Date
  /** Fetches of secrets by applications. */
  readonly fetches: number | null
  /** Writes and deletions by applications. */
  readonly writes: number | null
  /** Refused requests. */
  readonly refused: number | null
}

/** An hour that was counted, with its number of entries. */
export type CountedHour = {
  /** The start of the hour in milliseconds since the Unix epoch. */
  readonly start: number
  readonly entries: number
  readonly fetches: number
  readonly writes: number
  readonly refused: number
}

/** Counts entries of the audit log. */
export type ActivityStore = {
  /**
   * Returns the hours of a time span that have entries. At most `max` of the newest entries are counted.
   */
  countHours(query: {
    since: Date
    until: Date
    projects: VisibleProjects
    max: number
  }): Promise<readonly CountedHour[]>
}

/** The requests over time. */
export type Activity = ReturnType<typeof createActivity>

const HOUR_MS = 3_600_000

/** How many entries are read at most. */
const MAX_ENTRIES = 250_000

/** Creates the use case of requests over time. */
export function createActivity(deps: { store: ActivityStore; clock: Clock; max?: number }) {
  const { store, clock, max = MAX_ENTRIES } = deps
  return {
    /** Returns all hours of a range up to now, oldest first. Hours before the counted entries are null. */
    of: async (range: Range, projects: VisibleProjects): Promise<readonly HourOfActivity[]> => {
      const current = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
      const first = current - (RANGES[range] - 1) * HOUR_MS
      const counted = await store.countHours({
        since: new Date(first),
        // The clocks of replicas may differ.
        until: new Date(current + 2 * HOUR_MS),
        projects,
        max,
      })
      const isCut = counted.reduce((sum, { entries }) => sum + entries, 0) >= max
      const oldest = Math.min(...counted.map(({ start }) => start))
      const byStart = new Map(counted.map((hour) => [hour.start, hour]))
      return Array.from({ length: RANGES[range] }, (_, index) => {
        const start = first + index * HOUR_MS
        const { fetches, writes, refused } = byStart.get(start) ?? NOTHING
        // The oldest hour was counted in part.
        if (isCut && start <= oldest) return { start: new Date(start), fetches: null, writes: null, refused: null }
        return { start: new Date(start), fetches, writes, refused }
      })
    },
  }
}

const NOTHING = { fetches: 0, writes: 0, refused: 0 }
