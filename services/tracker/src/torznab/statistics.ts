import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import { type Histogram, percentile } from './statistics-histogram.ts'
import type { CountKind } from './statistics-rollup.ts'
import { endOf, nextStart, type Segment, type Span, segmentsOf, startOf } from './statistics-spans.ts'
import { countUsers, type UserSet } from './statistics-users.ts'

/** The hours of a range: up to the end of the current hour. */
const RANGE_HOURS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const
export const RANGES = ['24h', '7d', '30d', 'all'] as const
export type RangeName = (typeof RANGES)[number]

/** A range of whole hours. */
type Range = { readonly from: Date; readonly to: Date }

/** What a query is about: the range that was asked for, the time before it, everything, and the last 24 hours. */
export type Period = 'range' | 'before' | 'always' | 'lastDay'
export type PeriodSegment = Segment & { readonly period: Period }

export type Counted = { readonly requests: number; readonly errors: number; readonly durationMs: number }

/** With the response times, for percentiles. */
type Timed = Counted & { readonly histogram: Histogram }

/** Sums of a period: of all requests, of a function, or of a family of applications. */
type CountedPart = Timed & { readonly period: Period; readonly kind: CountKind; readonly name: string }

/** What was counted in a span. */
export type CountedSpan = Timed & { readonly start: Date }

/** Where counts are kept. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type StatisticsStore = {
  /** The start of the first hour with a request; undefined when there was none. */
  firstHour(): Promise<Date | undefined>
  /** All kinds for the range, all requests for the other periods; histograms for what has percentiles. */
  counts(segments: readonly PeriodSegment[]): Promise<readonly CountedPart[]>
  userSets(segments: readonly PeriodSegment[]): Promise<readonly { period: Period; users: UserSet }[]>
  /** Counts of these segments by the span that they are in; spans without a request are left out. */
  series(span: Span, segments: readonly Segment[]): Promise<readonly CountedSpan[]>
}

export type Totals = {
  readonly requests: number
  readonly errors: number
  /** Users with a valid key, counted exactly. */
  readonly uniqueUsers: number
  /** Milliseconds; null without a request. */
  readonly averageMs: number | null
  /** Milliseconds, at most 5 % off; null without a request. */
  readonly p95Ms: number | null
}

type TimedSummary = Omit<Totals, 'uniqueUsers'>
type Summary = Omit<TimedSummary, 'p95Ms'>

export type Statistics = Range & {
  readonly totals: Totals
  /** The same for as long a time before; null where nothing was counted before. */
  readonly before: (Range & Totals) | null
  /** Since counting began, and in the current hour and the 23 before. */
  readonly requestsEver: number
  readonly requestsLast24Hours: number
  readonly functions: readonly (TimedSummary & { readonly function: string })[]
  readonly clients: readonly (Summary & { readonly client: string })[]
  /**
   * By hour up to 31 days, by day up to a year, by month beyond. Of the first and the last what is in the range, so that
   * they add up to the totals.
   */
  readonly series: { readonly step: Span; readonly items: readonly (TimedSummary & { readonly start: Date })[] }
}

export type TorznabStatistics = ReturnType<typeof createTorznabStatistics>

const OLDEST = Date.UTC(2000, 0)
const NEWEST = Date.UTC(2100, 0)
const HOUR_MS = 3_600_000
const MAX_HOURLY_MS = 31 * 24 * HOUR_MS
const MAX_DAILY_MS = 366 * 24 * HOUR_MS

/** Statistics of the requests to the Torznab API, of any range of whole hours. */
export function createTorznabStatistics({ store, clock }: { store: StatisticsStore; clock: Clock }) {
  /** @throws ApiError BAD_REQUEST when `from` is not before `to`, after both were bounded */
  function rangeOf({ range = '24h', from, to }: AskedRange, first: Date, end: Date): Range {
    if (from === undefined && to === undefined)
      return { from: range === 'all' ? first : back(end, RANGE_HOURS[range] * HOUR_MS), to: end }
    const asked = {
      from: from === undefined ? first : startOf('hour', bounded(from)),
      to: to === undefined ? end : endOf('hour', bounded(to)),
    }
    if (asked.from.getTime() >= asked.to.getTime())
      throw apiError('BAD_REQUEST', 'from: must be before to; no request is older than 2000 or newer than 2100.')
    return asked
  }

  return {
    /**
     * @param asked a named range, 24 h by default, or `from` and `to`, which are widened to whole hours
     * @throws ApiError BAD_REQUEST when `from` is not before `to`
     */
    async read(asked: AskedRange): Promise<Statistics> {
      const end = nextStart('hour', new Date(clock.now()))
      const first = (await store.firstHour()) ?? startOf('hour', new Date(clock.now()))
      const range = rangeOf(asked, first, end)
      const length = range.to.getTime() - range.from.getTime()
      const before = range.from.getTime() > first.getTime() ? { from: back(range.from, length), to: range.from } : null
      const compared = [...inPeriod('range', range), ...(before === null ? [] : inPeriod('before', before))]
      const ever = inPeriod('always', { from: first, to: end })
      const lastDay = inPeriod('lastDay', { from: back(end, 24 * HOUR_MS), to: end })
      const step = length <= MAX_HOURLY_MS ? 'hour' : length <= MAX_DAILY_MS ? 'day' : 'month'
      const [counts, userSets, series] = await Promise.all([
        store.counts([...compared, ...ever, ...lastDay]),
        store.userSets(compared),
        store.series(step, segmentsOf(range.from, range.to, step)),
      ])
      const partsOf = (period: Period, kind: CountKind) =>
        counts.filter((row) => row.period === period && row.kind === kind)
      const totalsOf = (period: Period): Totals => {
        const [all = NOTHING] = partsOf(period, 'all')
        const uniqueUsers = countUsers(userSets.filter((row) => row.period === period).map(({ users }) => users))
        return { ...timedSummary(all), uniqueUsers }
      }
      return {
        ...range,
        totals: totalsOf('range'),
        before: before && { ...before, ...totalsOf('before') },
        requestsEver: totalsOf('always').requests,
        requestsLast24Hours: totalsOf('lastDay').requests,
        functions: busiestFirst(partsOf('range', 'function')).map((row) => ({
          function: row.name,
          ...timedSummary(row),
        })),
        clients: busiestFirst(partsOf('range', 'client')).map((row) => ({ client: row.name, ...summary(row) })),
        series: { step, items: filled(step, range, series) },
      }
    },
  }
}

export type AskedRange = {
  readonly range?: RangeName | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** The nearest time that a request can have, so that the number of spans is bounded. */
function bounded(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), OLDEST), NEWEST))
}

function back(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() - milliseconds)
}

function inPeriod(period: Period, { from, to }: Range): readonly PeriodSegment[] {
  return segmentsOf(from, to).map((segment) => ({ ...segment, period }))
}

const NOTHING = { requests: 0, errors: 0, durationMs: 0, histogram: [] }

function summary({ requests, errors, durationMs }: Counted): Summary {
  return { requests, errors, averageMs: requests === 0 ? null : durationMs / requests }
}

function timedSummary(row: Timed): TimedSummary {
  return { ...summary(row), p95Ms: percentile(row.histogram, 0.95) }
}

function busiestFirst<Row extends Counted>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => b.requests - a.requests)
}

/** One item for each span of a range, also for those without a request. */
function filled(step: Span, range: Range, rows: readonly CountedSpan[]) {
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]))
  const items: (TimedSummary & { start: Date })[] = []
  for (let start = startOf(step, range.from); start.getTime() < range.to.getTime(); start = nextStart(step, start)) {
    items.push({ start, ...timedSummary(byStart.get(start.getTime()) ?? NOTHING) })
  }
  return items
}
