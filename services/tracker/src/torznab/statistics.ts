import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'

/** The length of a range that ends with the current hour. */
const RANGE_DAYS = { '24h': 1, '7d': 7, '30d': 30 } as const
export const RANGES = ['24h', '7d', '30d', 'all'] as const

/** A named or custom range. */
export type AskedRange = {
  readonly range?: (typeof RANGES)[number] | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** A range of whole hours. */
export type HourRange = { readonly from: Date; readonly to: Date }

export const STEPS = ['hour', 'day', 'month'] as const
export type Step = (typeof STEPS)[number]

/** Sums of hourly counts. */
export type Summary = {
  readonly requests: number
  readonly errors: number
  /** Null without a request. */
  readonly averageMs: number | null
}

/** The hourly counts. All methods throw an error that `isUnavailable` recognises when Postgres is unavailable. */
export type StatisticsStore = {
  /** The first hour with a request, if any; all requests, and those of a range. */
  ever(last24Hours: HourRange): Promise<{
    readonly firstHour: Date | null
    readonly requestsEver: number
    readonly requestsLast24Hours: number
  }>
  /** Counts as users those whose first request came before the end of the range and whose newest came after its start. */
  totals(range: HourRange): Promise<Summary & { readonly uniqueUsers: number }>
  /** Functions or applications with a request, busiest first. */
  byName(kind: 'function' | 'client', range: HourRange): Promise<readonly (Summary & { readonly name: string })[]>
  /** Every step of a range in UTC, including steps without a request. The first and the last may be cut by the range. */
  series(step: Step, range: HourRange): Promise<readonly (Summary & { readonly start: Date })[]>
}

export type TorznabStatistics = ReturnType<typeof createTorznabStatistics>

const OLDEST = Date.UTC(2000, 0)
const NEWEST = Date.UTC(2100, 0)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_HOURLY_MS = 31 * DAY_MS
const MAX_DAILY_MS = 366 * DAY_MS

/** Statistics of the requests to the Torznab API in any range of whole hours. */
export function createTorznabStatistics({ store, clock }: { store: StatisticsStore; clock: Clock }) {
  return {
    /**
     * @param asked the last 24 hours by default; `from` and `to` are widened to whole hours
     * @throws ApiError BAD_REQUEST if `from` is not before `to` once both are bounded
     */
    async read(asked: AskedRange) {
      const now = startOfHour(clock.now())
      const end = later(now, HOUR_MS)
      const { firstHour, ...ever } = await store.ever({ from: later(end, -DAY_MS), to: end })
      const first = firstHour ?? now
      const range = rangeOf(asked, first, end)
      const length = range.to.getTime() - range.from.getTime()
      const before = range.from > first ? { from: later(range.from, -length), to: range.from } : null
      const step: Step = length <= MAX_HOURLY_MS ? 'hour' : length <= MAX_DAILY_MS ? 'day' : 'month'
      const [totals, totalsBefore, functions, clients, items] = await Promise.all([
        store.totals(range),
        before && store.totals(before),
        store.byName('function', range),
        store.byName('client', range),
        store.series(step, range),
      ])
      return {
        ...range,
        ...ever,
        totals,
        /** The previous range of the same length; null if nothing was counted then. */
        before: before && totalsBefore && { ...before, ...totalsBefore },
        functions: functions.map(({ name, ...sums }) => ({ function: name, ...sums })),
        clients: clients.map(({ name, ...sums }) => ({ client: name, ...sums })),
        series: { step, items },
      }
    },
  }
}

function rangeOf({ range = '24h', from, to }: AskedRange, first: Date, end: Date): HourRange {
  if (from === undefined && to === undefined)
    return { from: range === 'all' ? first : later(end, -RANGE_DAYS[range] * DAY_MS), to: end }
  const asked = {
    from: from === undefined ? first : startOfHour(bounded(from)),
    to: to === undefined ? end : later(startOfHour(bounded(to) - 1), HOUR_MS),
  }
  if (asked.from >= asked.to)
    throw apiError('BAD_REQUEST', 'from: must be before to; no request is older than 2000 or newer than 2100.')
  return asked
}

/** The nearest time that a request can have, which bounds the number of steps. */
function bounded(time: Date): number {
  return Math.min(Math.max(time.getTime(), OLDEST), NEWEST)
}

function startOfHour(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / HOUR_MS) * HOUR_MS)
}

function later(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds)
}
