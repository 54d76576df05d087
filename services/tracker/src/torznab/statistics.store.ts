import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { CountRow, StatisticsStore } from './statistics.ts'

/** Sums of the hourly counts in Postgres. */
export function createStatisticsStore(db: Db): StatisticsStore {
  return {
    firstHour: async () => {
      const row = await db
        .selectFrom('torznab_hours')
        .select((eb) => eb.fn.min('hour').as('hour'))
        .where('kind', '=', 'function')
        .executeTakeFirst()
      return row?.hour ?? undefined
    },

    counts: async (kind, { from, to }, step) => {
      // `date_bin` takes a quarter of the time of `date_trunc`, which therefore only gets days.
      const bin = step === 'hour' ? '1 hour' : '1 day'
      const [inner, outer] =
        step === undefined
          ? [sql`null::timestamptz`, sql`start`]
          : [sql`date_bin(${bin}, hour, '2000-01-01Z')`, sql`date_trunc(${sql.lit(step)}, start, 'UTC')`]
      const { rows } = await sql<CountRow>`
        select name, ${outer} as start,
          sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(duration_ms) as "durationMs"
        from (
          select name, ${inner} as start,
            sum(requests) as requests, sum(errors) as errors, sum(duration_ms) as duration_ms
          from torznab_hours where kind = ${kind} and hour >= ${from} and hour < ${to}
          group by 1, 2
        ) as counted
        group by 1, 2`.execute(db)
      return rows
    },

    users: async ({ from, to }) => {
      const { users } = await db
        .selectFrom('torznab_users')
        .select((eb) => eb.fn.countAll<number>().as('users'))
        .where('first_at', '<', to)
        .where('last_at', '>=', from)
        .executeTakeFirstOrThrow()
      return users
    },
  }
}
