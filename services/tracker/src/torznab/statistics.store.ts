import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { Counted, CountedSpan, Period, StatisticsStore } from './statistics.ts'
import { addTo, type Histogram } from './statistics-histogram.ts'
import type { CountKind } from './statistics-rollup.ts'
import type { Segment } from './statistics-spans.ts'

type SummedRow = Counted & { period: Period; kind: CountKind; name: string; histograms: string | null }

/** Statistics from the tables that count requests by hour, day and month. */
export function createStatisticsStore(db: Db): StatisticsStore {
  return {
    firstHour: async () => {
      const row = await db
        .selectFrom('torznab_counts')
        .select('start')
        .where('span', '=', 'hour')
        .where('kind', '=', 'all')
        .orderBy('start')
        .limit(1)
        .executeTakeFirst()
      return row?.start
    },

    counts: async (segments) => {
      // Histograms are added up here: Postgres takes ten times as long.
      const { rows } = await sql<SummedRow>`
          select period, kind, name, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
            sum(duration_ms) as "durationMs", string_agg(buckets, ';') as histograms
          from ${segmentRows(segments)}
          join unnest(
            array['range', 'range', 'range', 'before', 'always', 'lastDay'],
            array['all', 'function', 'client', 'all', 'all', 'all'],
            array[true, true, false, true, false, false]
          ) as wanted (period, kind, timed) using (period)
          cross join lateral (
            select name, requests, errors, duration_ms, case when timed then array_to_string(c.buckets, ',') end as buckets
            from torznab_counts as c
            where c.span = s.span and c.kind = wanted.kind and c.start >= s.first and c.start < s.next offset 0
          ) as counted
          group by period, kind, name`.execute(db)
      return rows.map(({ histograms, ...row }) => ({ ...row, histogram: sumOf(histograms) }))
    },

    userSets: async (segments) => {
      const { rows } = await sql<{ period: Period; users: Buffer }>`
          select period, users
          from ${segmentRows(segments)} cross join lateral (
            select users from torznab_user_sets as u
            where u.span = s.span and u.start >= s.first and u.start < s.next offset 0
          ) as counted`.execute(db)
      return rows
    },

    series: async (span, segments) => {
      const { rows } = await sql<Omit<CountedSpan, 'histogram'> & { histograms: string | null }>`
          select date_trunc(${span}, start, 'UTC') as start, sum(requests)::bigint as requests,
            sum(errors)::bigint as errors, sum(duration_ms) as "durationMs", string_agg(buckets, ';') as histograms
          from ${segmentRows(segments)} cross join lateral (
            select start, requests, errors, duration_ms, array_to_string(c.buckets, ',') as buckets
            from torznab_counts as c
            where c.span = s.span and c.kind = 'all' and c.start >= s.first and c.start < s.next offset 0
          ) as counted
          group by 1`.execute(db)
      return rows.map(({ histograms, ...row }) => ({ ...row, histogram: sumOf(histograms) }))
    },
  }
}

/**
 * Segments as rows, with their periods where they have one. What is joined to them is a subquery with `offset 0`, which the planner does not merge: each
 * segment reads its part of the index, however the planner estimates their number.
 */
function segmentRows(segments: readonly (Segment & { readonly period?: Period })[]): RawBuilder<unknown> {
  return sql`unnest(
    ${segments.map((s) => s.period ?? null)}::text[], ${segments.map((s) => s.span)}::text[],
    ${segments.map((s) => s.from)}::timestamptz[], ${segments.map((s) => s.to)}::timestamptz[]
  ) as s (period, span, first, next)`
}

/** The sum of histograms, as they come: numbers with commas between them, histograms with semicolons. */
function sumOf(histograms: string | null): Histogram {
  const sum: number[] = []
  if (histograms === null || histograms === '') return sum
  for (const histogram of histograms.split(';'))
    if (histogram !== '')
      for (const [bucket, count] of histogram.split(',').entries()) addTo(sum, bucket, Number(count))
  return sum
}
