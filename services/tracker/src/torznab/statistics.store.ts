import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { StatisticsStore, Sums } from './statistics.ts'

type Row = Sums & { readonly kind: 'function' | 'client'; readonly name: string | null; readonly start: Date | null }

/** Sums of the hourly counts in Postgres. */
export function createStatisticsStore(db: Db): StatisticsStore {
  return {
    ever: async ({ from, to }) => {
      const { rows } = await sql<Awaited<ReturnType<StatisticsStore['ever']>>>`
        select min(hour) as "firstHour", coalesce(sum(requests), 0)::bigint as "requestsEver",
          coalesce(sum(requests) filter (where hour >= ${from} and hour < ${to}), 0)::bigint as "requestsLast24Hours"
        from torznab_hours where kind = 'function'`.execute(db)
      return rows[0] ?? { firstHour: null, requestsEver: 0, requestsLast24Hours: 0 }
    },

    sums: async ({ from, to }, step) => {
      const { rows } = await sql<Row>`
        select kind, name, start,
          sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(duration_ms) as "durationMs"
        from (
          select kind, name, date_trunc(${step}, hour, 'UTC') as start, requests, errors, duration_ms
          from torznab_hours where hour >= ${from} and hour < ${to}
          union all
          select 'function', null, utc at time zone 'UTC', 0, 0, 0
          from generate_series(
            date_trunc(${step}, ${from}::timestamptz at time zone 'UTC'),
            ${to}::timestamptz at time zone 'UTC' - interval '1 hour', ${`1 ${step}`}::interval
          ) as utc
        ) as hours
        group by grouping sets ((kind, name), (kind, start))
        order by start, requests desc, name`.execute(db)
      const named = (kind: Row['kind']) =>
        rows.flatMap(({ name, ...row }) => (row.kind === kind && name !== null ? [{ ...row, name }] : []))
      return {
        functions: named('function'),
        clients: named('client'),
        steps: rows.flatMap(({ start, ...row }) =>
          row.kind === 'function' && start !== null ? [{ ...row, start }] : [],
        ),
      }
    },

    users: async ({ from, to }) => {
      const { users } = await db
        .selectFrom('torznab_users')
        .select(({ fn }) => fn.countAll<number>().as('users'))
        .where('first_at', '<', to)
        .where('last_at', '>=', from)
        .executeTakeFirstOrThrow()
      return users
    },
  }
}
