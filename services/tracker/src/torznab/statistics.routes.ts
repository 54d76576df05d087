import { z } from 'zod'
import { isTimeRange, noTimeRange, time, timeRange } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { RANGES, STEPS, type Statistics, type TorznabStatistics } from './statistics.ts'

const milliseconds = z.number().nullable().meta({ description: 'milliseconds; null without a request' })
const summary = { requests: z.int(), errors: z.int(), averageMs: milliseconds }
const totals = {
  ...summary,
  uniqueUsers: z.int().meta({
    description:
      'users whose first request came before the end and whose newest came after the start; exact if the range ends now',
  }),
}
const range = { from: time, to: time }

const statistics = z
  .object({
    ...range,
    totals: z.object(totals).meta({ id: 'TorznabTotals' }),
    before: z
      .object({ ...range, ...totals })
      .nullable()
      .meta({ description: 'previous period of the same length; null if it has no data' }),
    requestsEver: z.int(),
    requestsLast24Hours: z.int().meta({ description: 'in the current hour and the previous 23' }),
    functions: z.array(z.object({ function: z.string(), ...summary })),
    clients: z.array(z.object({ client: z.string(), ...summary })),
    series: z.object({
      step: z.enum(STEPS).meta({ description: 'hour for up to 31 days, day for up to a year, otherwise month' }),
      items: z.array(z.object({ start: time, ...summary })),
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
    summary:
      'Get requests, users, errors and response times for a range of whole hours in UTC and the period before it',
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

function present({ from, to, totals, before, functions, clients, series, ...counts }: Statistics) {
  return {
    ...counts,
    ...presentRange({ from, to }),
    totals: rounded(totals),
    before: before && { ...rounded(before), ...presentRange(before) },
    functions: functions.map(rounded),
    clients: clients.map(rounded),
    series: { ...series, items: series.items.map((item) => ({ ...rounded(item), start: item.start.toISOString() })) },
  }
}

function presentRange({ from, to }: { from: Date; to: Date }) {
  return { from: from.toISOString(), to: to.toISOString() }
}

/** Times in hundredths of a millisecond. */
function rounded<Row extends { readonly averageMs: number | null }>(row: Row) {
  const { averageMs } = row
  return { ...row, averageMs: averageMs === null ? null : Math.round(averageMs * 100) / 100 }
}
