import { orPostgresUnavailable } from '@vault-and-tracker/service-kit/postgres'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { Period, PeriodSegment, StatisticsStore } from './statistics.ts'

type CountRow = {
  period: Period
  function: string
  client: string
  requests: number
  errors: number
  durationMs: number
}
type DurationRow = { period: Period; function: string; bucket: number; requests: number }

/** Statistics from the tables that count requests by hour, day and month. */
export function createStatisticsStore(db: Db): StatisticsStore {
  return {
    firstHour: () =>
      orPostgresUnavailable(async () => {
        const row = await db
          .selectFrom('torznab_counts')
          .select('start')
          .where('span', '=', 'hour')
          .orderBy('start')
          .limit(1)
          .executeTakeFirst()
        return row?.start
      }),

    counts: (segments) =>
      orPostgresUnavailable(async () => {
        const { rows } = await sql<CountRow>`
          select period, function, client, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
            sum(duration_ms) as "durationMs"
          from ${segmentRows(segments)} cross join lateral (
            select function, client, requests, errors, duration_ms from torznab_counts as c
            where c.span = s.span and c.start >= s.first and c.start < s.next offset 0
          ) as counted
          group by period, function, client`.execute(db)
        return rows
      }),

    durations: (segments) =>
      orPostgresUnavailable(async () => {
        const { rows } = await sql<DurationRow>`
          select period, function, bucket, sum(requests)::bigint as requests
          from ${segmentRows(segments)} cross join lateral (
            select function, bucket, requests from torznab_durations as d
            where d.span = s.span and d.start >= s.first and d.start < s.next offset 0
          ) as counted
          group by period, function, bucket`.execute(db)
        return rows
      }),

    userSets: (segments) =>
      orPostgresUnavailable(async () => {
        const { rows } = await sql<{ period: Period; users: Buffer }>`
          select period, users
          from ${segmentRows(segments)} cross join lateral (
            select users from torznab_user_sets as u
            where u.span = s.span and u.start >= s.first and u.start < s.next offset 0
          ) as counted`.execute(db)
        return rows
      }),

    series: (span, range) =>
      orPostgresUnavailable(async () => {
        const { rows } = await sql<{ start: Date; requests: number; errors: number; durationMs: number }>`
          select start, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
            sum(duration_ms) as "durationMs"
          from torznab_counts
          where span = ${span} and start >= date_trunc(${span}, ${range.from}::timestamptz, 'UTC')
            and start < ${range.to}::timestamptz
          group by start`.execute(db)
        return rows
      }),
  }
}

/**
 * Segments as rows. What is joined to them is a subquery with `offset 0`, which the planner does not merge: each
 * segment reads its part of the index, however the planner estimates their number.
 */
function segmentRows(segments: readonly PeriodSegment[]): RawBuilder<unknown> {
  return sql`unnest(
    ${segments.map((s) => s.period)}::text[], ${segments.map((s) => s.span)}::text[],
    ${segments.map((s) => s.from)}::timestamptz[], ${segments.map((s) => s.to)}::timestamptz[]
  ) as s (period, span, first, next)`
}
