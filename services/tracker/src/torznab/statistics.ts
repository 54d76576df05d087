import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import type { HourCount } from './request-counts.ts'

/** The hours of a range that ends with the current hour. */
const RANGE_HOURS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const
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
export type CountRow = Pick<HourCount, 'name' | 'requests' | 'errors' | 'durationMs'> & {
  /** The start of the step in UTC, for counts by step. */
  readonly start: Date | null
}

/** The hourly counts. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type StatisticsStore = {
  /** Undefined before the first request. */
  firstHour(): Promise<Date | undefined>
  /** Sums by name, and by step if one is given; steps without a request are left out. */
  counts(kind: HourCount['kind'], range: HourRange, step?: Step): Promise<readonly CountRow[]>
  /** Users whose first request came before the end of the range, and whose newest did not come before its start. */
  users(range: HourRange): Promise<number>
}

export type TorznabStatistics = ReturnType<typeof createTorznabStatistics>
export type Statistics = Awaited<ReturnType<TorznabStatistics['read']>>

const OLDEST = Date.UTC(2000, 0)
const NEWEST = Date.UTC(2100, 0)
const HOUR_MS = 3_600_000
const MAX_HOURLY_MS = 31 * 24 * HOUR_MS
const MAX_DAILY_MS = 366 * 24 * HOUR_MS

/** Statistics of the requests to the Torznab API in any range of whole hours. */
export function createTorznabStatistics({ store, clock }: { store: StatisticsStore; clock: Clock }) {
  const totalsOf = async (range: HourRange, counts: readonly CountRow[]) => ({
    ...summaryOf(counts),
    uniqueUsers: await store.users(range),
  })
  const requestsIn = async (range: HourRange) => summaryOf(await store.counts('function', range)).requests

  return {
    /**
     * @param asked the last 24 hours by default; `from` and `to` are widened to whole hours
     * @throws ApiError BAD_REQUEST if `from` is not before `to` once both are bounded
     */
    async read(asked: AskedRange) {
      const now = new Date(clock.now())
      const end = startOf('hour', now, 1)
      const first = (await store.firstHour()) ?? startOf('hour', now)
      const range = rangeOf(asked, first, end)
      const length = range.to.getTime() - range.from.getTime()
      const before = range.from.getTime() > first.getTime() ? { from: back(range.from, length), to: range.from } : null
      const step = length <= MAX_HOURLY_MS ? 'hour' : length <= MAX_DAILY_MS ? 'day' : 'month'
      const [functions, clients, countsBefore, requestsEver, requestsLast24Hours] = await Promise.all([
        store.counts('function', range, step),
        store.counts('client', range),
        before && store.counts('function', before),
        requestsIn({ from: first, to: end }),
        requestsIn({ from: back(end, 24 * HOUR_MS), to: end }),
      ])
      const byFunction = grouped(functions, ({ name }) => name)
      return {
        ...range,
        totals: await totalsOf(range, functions),
        /** The same range earlier; null if nothing was counted then. */
        before: before && countsBefore && { ...before, ...(await totalsOf(before, countsBefore)) },
        requestsEver,
        /** In the current hour and the 23 hours before. */
        requestsLast24Hours,
        functions: busiestFirst([...byFunction].map(([name, rows]) => ({ function: name, ...summaryOf(rows) }))),
        clients: busiestFirst(clients.map((row) => ({ client: row.name, ...summaryOf([row]) }))),
        /** The first and the last step have only what is in the range, so that the steps add up to the totals. */
        series: { step, items: filled(step, range, functions) } as const,
      }
    },
  }
}

function rangeOf({ range = '24h', from, to }: AskedRange, first: Date, end: Date): HourRange {
  if (from === undefined && to === undefined)
    return { from: range === 'all' ? first : back(end, RANGE_HOURS[range] * HOUR_MS), to: end }
  const asked = {
    from: from === undefined ? first : startOf('hour', bounded(from)),
    to: to === undefined ? end : startOf('hour', back(bounded(to), 1), 1),
  }
  if (asked.from.getTime() >= asked.to.getTime())
    throw apiError('BAD_REQUEST', 'from: must be before to; no request is older than 2000 or newer than 2100.')
  return asked
}

/** The nearest time that a request can have, which bounds the number of steps. */
function bounded(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), OLDEST), NEWEST))
}

function back(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() - milliseconds)
}

/** The start of the hour, day or month in UTC that contains a time, or of a later one. */
function startOf(step: Step, time: Date, later = 0): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  switch (step) {
    case 'hour':
      return new Date(Date.UTC(year, month, day, time.getUTCHours() + later))
    case 'day':
      return new Date(Date.UTC(year, month, day + later))
    case 'month':
      return new Date(Date.UTC(year, month + later))
  }
}

/** Sums of rows by function or application. */
function summaryOf(rows: readonly CountRow[]) {
  let [requests, errors, durationMs] = [0, 0, 0]
  for (const row of rows) {
    requests += row.requests
    errors += row.errors
    durationMs += row.durationMs
  }
  return { requests, errors, averageMs: requests === 0 ? null : durationMs / requests }
}

function grouped<Key>(rows: readonly CountRow[], keyOf: (row: CountRow) => Key): ReadonlyMap<Key, readonly CountRow[]> {
  const groups = new Map<Key, CountRow[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}

function busiestFirst<Row extends { readonly requests: number }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => b.requests - a.requests)
}

/** One item for each step of a range, including steps without a request. */
function filled(step: Step, range: HourRange, rows: readonly CountRow[]) {
  const byStart = grouped(rows, ({ start }) => start?.getTime())
  const items = []
  for (let start = startOf(step, range.from); start.getTime() < range.to.getTime(); start = startOf(step, start, 1))
    items.push({ start, ...summaryOf(byStart.get(start.getTime()) ?? []) })
  return items
}
