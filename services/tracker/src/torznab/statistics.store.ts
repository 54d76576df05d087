import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { StatisticsStore, Summary } from './statistics.ts'

const SUMS = sql`
  coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(errors), 0)::bigint as errors,
  round((sum(duration_ms) / sum(requests))::numeric, 2)::double precision as "averageMs"`

/** Sums of the hourly counts in Postgres. */
export function createStatisticsStore(db: Db): StatisticsStore {
  const hours = (kind: 'function' | 'client', from: Date | RawBuilder<Date>, to: Date | RawBuilder<Date>) =>
    sql`torznab_hours where kind = ${kind} and hour >= ${from} and hour < ${to}`

  return {
    ever: async ({ from, to }) => {
      const { rows } = await sql<Awaited<ReturnType<StatisticsStore['ever']>>>`
        select min(hour) as "firstHour", coalesce(sum(requests), 0)::bigint as "requestsEver",
          coalesce(sum(requests) filter (where hour >= ${from} and hour < ${to}), 0)::bigint as "requestsLast24Hours"
        from torznab_hours where kind = 'function'`.execute(db)
      return rows[0] ?? { firstHour: null, requestsEver: 0, requestsLast24Hours: 0 }
    },

    totals: async ({ from, to }) => {
      const { rows } = await sql<Summary & { uniqueUsers: number }>`
        select ${SUMS},
          (select count(*) from torznab_users where first_at < ${to} and last_at >= ${from}) as "uniqueUsers"
        from ${hours('function', from, to)}`.execute(db)
      return rows[0] ?? { requests: 0, errors: 0, averageMs: null, uniqueUsers: 0 }
    },

    byName: async (kind, { from, to }) => {
      const { rows } = await sql<Summary & { name: string }>`
        select name, ${SUMS} from ${hours(kind, from, to)}
        group by name order by requests desc, name`.execute(db)
      return rows
    },

    series: async (step, { from, to }) => {
      const { rows } = await sql<Summary & { start: Date }>`
        select start, counted.*
        from generate_series(
            date_trunc(${step}, ${from}::timestamptz at time zone 'UTC'),
            ${to}::timestamptz at time zone 'UTC' - interval '1 hour', ${`1 ${step}`}::interval
          ) as utc,
          lateral (select utc at time zone 'UTC' as start, (utc + ${`1 ${step}`}::interval) at time zone 'UTC' as next) as step,
          lateral (select ${SUMS} from ${hours('function', sql`greatest(start, ${from})`, sql`least(next, ${to})`)}) as counted
        order by start`.execute(db)
      return rows
    },
  }
}
