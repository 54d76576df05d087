import { z } from 'zod'
import { isTimeRange, noTimeRange, time, timeRange } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { RANGES, type Statistics, type TorznabStatistics, type Totals } from './statistics.ts'
import { SPANS } from './statistics-spans.ts'

const milliseconds = z.number().nullable().meta({ description: 'milliseconds; null without a request' })
const p95 = z.number().nullable().meta({ description: 'milliseconds, at most 5 % off; null without a request' })
const summary = { requests: z.int(), errors: z.int(), averageMs: milliseconds }
const totals = {
  ...summary,
  uniqueUsers: z.int().meta({ description: 'users with a valid key, counted exactly' }),
  p95Ms: p95,
}
const range = { from: time, to: time }

const statistics = z
  .object({
    ...range,
    totals: z.object(totals).meta({ id: 'TorznabTotals' }),
    before: z
      .object({ ...range, ...totals })
      .nullable()
      .meta({ description: 'as long a time before; null where nothing was counted before' }),
    requestsEver: z.int(),
    requestsLast24Hours: z.int().meta({ description: 'in the current hour and the 23 before' }),
    functions: z.array(z.object({ function: z.string(), ...summary, p95Ms: p95 })),
    clients: z.array(z.object({ client: z.string(), ...summary })),
    series: z.object({
      step: z.enum(SPANS).meta({ description: 'hour up to 31 days, day up to a year, month beyond' }),
      items: z.array(z.object({ start: time, ...summary, p95Ms: p95 })),
    }),
  })
  .meta({ id: 'TorznabStatistics' })

const endpoint = endpoints<{ torznabStatistics: TorznabStatistics }>()

/** Statistics of the Torznab API. */
export const torznabStatisticsEndpoints = [
  endpoint({
    tag: 'torznab',
    access: 'admin',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/torznab/statistics',
    operationId: 'getTorznabStatistics',
    summary: 'Requests, users, errors and response times of a range of whole hours in UTC, and of the time before',
    query: z
      .object({
        range: z.enum(RANGES, `must be one of ${RANGES.join(', ')}`).optional(),
        ...timeRange,
      })
      .refine(isTimeRange, noTimeRange),
    answer: statistics,
    handle: async ({ query }, { torznabStatistics }) => present(await torznabStatistics.read(query)),
  }),
]

function present(found: Statistics): z.input<typeof statistics> {
  const { before, series } = found
  return {
    ...presentRange(found),
    totals: presentTotals(found.totals),
    before: before && { ...presentRange(before), ...presentTotals(before) },
    requestsEver: found.requestsEver,
    requestsLast24Hours: found.requestsLast24Hours,
    functions: found.functions.map((row) => ({ ...row, averageMs: round(row.averageMs), p95Ms: round(row.p95Ms) })),
    clients: found.clients.map((row) => ({ ...row, averageMs: round(row.averageMs) })),
    series: {
      step: series.step,
      items: series.items.map((item) => ({
        ...item,
        start: item.start.toISOString(),
        averageMs: round(item.averageMs),
        p95Ms: round(item.p95Ms),
      })),
    },
  }
}

function presentRange({ from, to }: { from: Date; to: Date }) {
  return { from: from.toISOString(), to: to.toISOString() }
}

function presentTotals({ requests, errors, uniqueUsers, averageMs, p95Ms }: Totals) {
  return { requests, errors, uniqueUsers, averageMs: round(averageMs), p95Ms: round(p95Ms) }
}

/** To hundredths of a millisecond. */
function round(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds * 100) / 100
}
