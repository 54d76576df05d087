import type pg from 'pg'
import { bucketOf } from '../src/torznab/statistics-histogram.ts'
import { startOf } from '../src/torznab/statistics-spans.ts'
import { withUsers } from '../src/torznab/statistics-users.ts'
import type { Databases } from './databases.ts'
import { USERS, uuidOf } from './numbering.ts'

export const LOG_DAYS = 30
/** The thirty days again and again, for statistics of a year. */
const REPEATED = 12

/**
 * Fills the request log with requests of the last thirty days, and the statistics with what they count to, twelve times
 * one after the other.
 *
 * @returns the ids of users, the busiest first
 */
export async function fillTorznabLog({ client, addUsers }: Databases, requests: number): Promise<readonly string[]> {
  await addUsers(USERS)
  await client.query("update users set api_blocked = true where username like 'user-%99'")
  await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'; set work_mem = '256MB'`)
  await withoutIndexes(client, async () => {
    for (let day = LOG_DAYS; day >= 0; day--) {
      await fillDay(client, day, requests)
    }
  })
  await client.query('analyze torznab_requests')
  await fillUsers(client)
  await fillCounts(client)
  await fillUserSets(client)
  await client.query('vacuum analyze')
  return Array.from({ length: USERS }, (_, n) => uuidOf(n))
}

/** Building indexes at the end takes a third of the time. */
async function withoutIndexes(client: pg.Client, fill: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select indexname as name, indexdef as statement from pg_indexes
     where tablename = 'torznab_requests' and indexname <> 'torznab_requests_pkey'`,
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await fill()
  for (const { statement } of rows) await client.query(statement)
}

/** Requests of the day so many days ago that are not in the future. Few users and functions have most of them. */
async function fillDay(client: pg.Client, day: number, requests: number): Promise<void> {
  await client.query(
    `insert into torznab_requests (id, at, user_id, function, query, results, duration_ms, error, client)
     select uuidv7(at - now()), at,
       ('00000000-0000-7000-8000-' || lpad(to_hex(floor($3::int * random_user ^ 2)::int), 12, '0'))::uuid,
       f.function, 'q=an example show ' || n || '&season=' || n % 20 || '&cat=5000,5040', n % 100,
       exp(random_normal(2.5, 0.9)), r.error,
       (array['Sonarr', 'Sonarr', 'Sonarr', 'Radarr', 'Radarr', 'Prowlarr', 'Prowlarr', 'Prowlarr', 'Lidarr', 'Readarr',
         'cross-seed', 'autobrr', 'FlexGet', 'qBittorrent', 'browser', 'library', 'other'])[1 + floor(random() * 17)::int]
     from (
       select n, now() - make_interval(days => $1::int) + (n / ($2::float8 / 31)) * interval '1 day'
           - (now() - date_trunc('day', now(), 'UTC')) as at,
         random() as random_function, random() as random_error, random() as random_user
       from generate_series(0, $2::int / 31 - 1) as n
     ) as request
     cross join lateral (select case
       when random_function < 0.35 then 'tvsearch' when random_function < 0.7 then 'search'
       when random_function < 0.85 then 'movie' when random_function < 0.95 then 'download'
       when random_function < 0.98 then 'caps' when random_function < 0.995 then 'music'
       when random_function < 0.9999 then 'book' else 'details' end as function) as f
     cross join lateral (select (case
       when random_error < 0.02 then 500 when random_error < 0.03 then 100
       when random_error < 0.03001 then 910 end)::smallint as error) as r
     where at < now()`,
    [day, requests, USERS],
  )
}

async function fillUsers(client: pg.Client): Promise<void> {
  await client.query(`
    insert into torznab_users (user_id, requests, downloads, errors, violations, last_at)
    select user_id, count(*), count(*) filter (where function = 'download'), count(error),
      count(*) filter (where error = 500), max(at)
    from torznab_requests where user_id is not null group by user_id order by user_id`)
}

/** Hours are counted from the log and repeated; days are added up from hours, and months from days. */
async function fillCounts(client: pg.Client): Promise<void> {
  // The bucket of each tenth of a millisecond, so that histograms are those of the service itself.
  const buckets = Array.from({ length: 10_000 }, (_, i) => bucketOf(i / 10))
  await client.query(
    `create temporary table counted as
     select date_trunc('hour', at, 'UTC') as start, function, client,
       ($2::integer[])[1 + least(floor(duration_ms * 10), 9999)::int] as bucket,
       count(*) as requests, count(error) as errors, sum(duration_ms) as duration_ms
     from torznab_requests where at >= date_trunc('hour', now(), 'UTC') - make_interval(days => $1::int, hours => -1)
     group by 1, 2, 3, 4`,
    [LOG_DAYS, buckets],
  )
  await client.query(
    `create temporary table hours as
     select kind, start, name, bucket, sum(requests) as requests, sum(errors) as errors, sum(duration_ms) as duration_ms
     from counted cross join lateral (values ('all', ''), ('function', function), ('client', client)) as of (kind, name)
     group by 1, 2, 3, 4`,
  )
  await client.query(
    `insert into torznab_counts (span, kind, start, name, requests, errors, duration_ms, buckets)
     select 'hour', kind, start - make_interval(days => again * $1::int), name, requests, errors, duration_ms, buckets
     from (
       select kind, start, name, sum(requests) as requests, sum(errors) as errors, sum(duration_ms) as duration_ms,
         case when kind = 'client' then '{}' else array(
           select coalesce(sum(one.requests), 0)::integer
           from generate_series(0, max(bucket)) as n
             left join unnest(array_agg(bucket), array_agg(requests)) as one (bucket, requests) on one.bucket = n
           group by n order by n
         ) end as buckets
       from hours group by kind, start, name
     ) as counts cross join generate_series(0, $2::int - 1) as again`,
    [LOG_DAYS, REPEATED],
  )
  for (const [span, parts] of [
    ['day', 'hour'],
    ['month', 'day'],
  ] as const) {
    await client.query(
      `insert into torznab_counts (span, kind, start, name, requests, errors, duration_ms, buckets)
       select $1, kind, start, name, requests, errors, duration_ms, coalesce(buckets, '{}') from (
         select kind, date_trunc($1, start, 'UTC') as start, name, sum(requests) as requests, sum(errors) as errors,
           sum(duration_ms) as duration_ms
         from torznab_counts where span = $2 group by 1, 2, 3
       ) as sums left join (
         select kind, start, name, array_agg(requests order by bucket) as buckets from (
           select kind, date_trunc($1, start, 'UTC') as start, name, bucket, sum(one)::integer as requests
           from torznab_counts, unnest(buckets) with ordinality as each (one, bucket)
           where span = $2 group by 1, 2, 3, 4
         ) as added group by 1, 2, 3
       ) as histograms using (kind, start, name)`,
      [span, parts],
    )
  }
}

async function fillUserSets(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ start: Date; numbers: readonly number[] }>(
    `select date_trunc('hour', at, 'UTC') as start, array_agg(distinct number) as numbers
     from torznab_requests join torznab_users using (user_id)
     where at >= date_trunc('hour', now(), 'UTC') - make_interval(days => $1::int, hours => -1) group by 1`,
    [LOG_DAYS],
  )
  const sets = new Map<string, { span: string; start: Date; users: Uint8Array }>()
  for (const { start, numbers } of rows)
    for (let again = 0; again < REPEATED; again++) {
      const at = new Date(start.getTime() - again * LOG_DAYS * 86_400_000)
      for (const span of ['hour', 'day', 'month'] as const) {
        const spanStart = startOf(span, at)
        const key = `${span} ${spanStart.toISOString()}`
        const users = withUsers(sets.get(key)?.users ?? new Uint8Array(), numbers)
        sets.set(key, { span, start: spanStart, users })
      }
    }
  const all = [...sets.values()]
  await client.query(
    `insert into torznab_user_sets (span, start, users)
     select * from unnest($1::text[], $2::timestamptz[], $3::bytea[])`,
    [all.map((set) => set.span), all.map((set) => set.start), all.map((set) => Buffer.from(set.users))],
  )
}
