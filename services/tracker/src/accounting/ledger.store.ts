import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { Delta } from '../swarm/swarm.ts'
import type { CompletedTorrent, CountedSwarm, Ledger } from './accounting.ts'

/** The largest total, nine petabytes. JavaScript cannot represent all larger integers. */
const MAX_TOTAL = Number.MAX_SAFE_INTEGER
/** The time of the last announce is written only if it is this much later than the stored one, or with another change. */
const SEEN_STEP = sql`interval '1 minute'`

/** Totals in Postgres. Rows are locked in the order of their keys to prevent deadlocks. */
export function createLedger(db: Db): Ledger {
  return {
    write: (batches) =>
      db.transaction().execute(async (transaction) => {
        const logged = await logBatches(
          transaction,
          batches.map((batch) => batch.id),
        )
        const fresh = batches.filter((batch) => logged.has(batch.id))
        const deltas = fresh.flatMap((batch) => batch.deltas)
        const counts = fresh.flatMap((batch) => batch.counts)
        const completed = deltas.length > 0 ? await addToUserTorrents(transaction, deltas) : []
        if (deltas.length + counts.length > 0) await addToTorrents(transaction, deltas, completed, counts)
        if (deltas.length > 0) {
          await addToUsers(transaction, deltas)
          await addToDays(transaction, deltas)
        }
        return completed
      }),

    storedCounts: async () => {
      const rows = await db
        .selectFrom('torrent_stats')
        .innerJoin('torrents', 'torrents.id', 'torrent_stats.torrent_id')
        .select(['info_hash as name', 'seeders as complete', 'leechers as incomplete'])
        .where((eb) => eb.or([eb('seeders', '>', 0), eb('leechers', '>', 0)]))
        .where('torrents.deleted_at', 'is', null)
        .execute()
      return rows
    },

    deleteBatchLog: async (olderThanDays) => {
      const before = sql<Date>`now() - make_interval(days => ${olderThanDays})`
      await db.deleteFrom('flush_log').where('flushed_at', '<', before).execute()
    },

    deleteDays: async (before) => {
      await db.deleteFrom('user_days').where('day', '<', before.toISOString().slice(0, 10)).execute()
    },
  }
}

/** Logs batches as written, and returns those that were new. */
async function logBatches(transaction: Transaction<Schema>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    insert into flush_log (id) select id from unnest(${ids}::uuid[]) as batch (id) order by id
    on conflict do nothing returning id`.execute(transaction)
  return new Set(rows.map((row) => row.id))
}

type Completed = CompletedTorrent & { readonly id: string; readonly users: number }

/**
 * Adds to the transfers of each user and torrent. Stored rows are looked up only for the few `completed` events
 * (`offset 0` keeps the planner from joining first).
 *
 * @returns the torrents with new snatches, and their number
 */
async function addToUserTorrents(
  transaction: Transaction<Schema>,
  deltas: readonly Delta[],
): Promise<readonly Completed[]> {
  const { rows } = await sql<{ id: string; info_hash: Buffer; info_hash_v2: Buffer | null; users: number }>`
    with delta as (
      select * from unnest(
        ${deltas.map((d) => d.userId)}::uuid[], ${deltas.map((d) => d.torrentId)}::uuid[],
        ${deltas.map((d) => d.creditedUp)}::bigint[], ${deltas.map((d) => d.creditedDown)}::bigint[],
        ${deltas.map((d) => d.actualUp)}::bigint[], ${deltas.map((d) => d.actualDown)}::bigint[],
        ${deltas.map((d) => d.seedSeconds)}::bigint[], ${deltas.map((d) => d.left)}::bigint[],
        ${deltas.map((d) => d.state)}::text[], ${deltas.map((d) => d.firstSeen)}::bigint[],
        ${deltas.map((d) => d.lastSeen)}::bigint[], ${deltas.map((d) => d.completedAt ?? null)}::bigint[],
        ${deltas.map((d) => d.leeched)}::boolean[], ${deltas.map((d) => d.snatched)}::boolean[]
      ) as t (user_id, torrent_id, up, down, actual_up, actual_down, seconds, bytes_left, state, first_seen, last_seen,
              completed_at, leeched, snatched)
    ), judged as (
      select delta.*,
        case when delta.snatched or ut.leeched then to_timestamp(delta.completed_at) end as snatched_at,
        delta.completed_at is not null and (delta.snatched or coalesce(ut.leeched, false)) and ut.completed_at is null
          as is_first
      from delta left join lateral (
        select leeched, completed_at from user_torrents
        where delta.completed_at is not null and user_id = delta.user_id and torrent_id = delta.torrent_id
        offset 0
      ) as ut on true
    ), written as (
      insert into user_torrents as ut (user_id, torrent_id, uploaded, downloaded, uploaded_actual, downloaded_actual,
        seed_seconds, bytes_left, last_state, first_seen_at, last_seen_at, completed_at,
        leeched)
      select user_id, torrent_id, up, down, actual_up, actual_down, seconds, bytes_left, state,
        to_timestamp(first_seen), to_timestamp(last_seen), snatched_at, leeched
      from judged order by user_id, torrent_id
      on conflict (user_id, torrent_id) do update set
        uploaded = least(ut.uploaded + excluded.uploaded, ${MAX_TOTAL}),
        downloaded = least(ut.downloaded + excluded.downloaded, ${MAX_TOTAL}),
        uploaded_actual = least(ut.uploaded_actual + excluded.uploaded_actual, ${MAX_TOTAL}),
        downloaded_actual = least(ut.downloaded_actual + excluded.downloaded_actual, ${MAX_TOTAL}),
        seed_seconds = ut.seed_seconds + excluded.seed_seconds,
        bytes_left = excluded.bytes_left,
        last_state = excluded.last_state,
        last_seen_at = greatest(ut.last_seen_at, excluded.last_seen_at),
        completed_at = coalesce(ut.completed_at, excluded.completed_at),
        leeched = ut.leeched or excluded.leeched
    )
    select id, info_hash, info_hash_v2, users from torrents
      join (select torrent_id, count(*) as users from judged where is_first group by torrent_id) as first
        on torrent_id = id`.execute(transaction)
  return rows.map(({ id, users, info_hash, info_hash_v2 }) => ({
    ...{ id, users, infoHash: info_hash, infoHashV2: info_hash_v2 },
  }))
}

/**
 * Writes the last announces, new snatches and changed swarm counts of torrents. One statement, since a second update of a
 * row in a transaction would check its foreign key. Skips rows that would not change. Existing rows are updated
 * explicitly, because an insert runs the trigger before it finds the conflict.
 */
async function addToTorrents(
  transaction: Transaction<Schema>,
  deltas: readonly Delta[],
  completed: readonly Completed[],
  counts: readonly CountedSwarm[],
): Promise<void> {
  const seen = new Map<string, number>()
  for (const { torrentId, lastSeen } of deltas) seen.set(torrentId, Math.max(seen.get(torrentId) ?? 0, lastSeen))
  const users = new Map(completed.map((torrent) => [torrent.id, torrent.users]))
  const ids = [...seen.keys()]
  await sql`
    with seen as (
      select * from unnest(
        ${ids}::uuid[], ${[...seen.values()]}::bigint[], ${ids.map((id) => users.get(id) ?? 0)}::integer[]
      ) as t (torrent_id, last_seen, completed)
    ), counted as (
      select torrents.id as torrent_id, t.seeders, t.leechers from unnest(
        ${counts.map((c) => c.name)}::bytea[], ${counts.map((c) => c.complete)}::integer[],
        ${counts.map((c) => c.incomplete)}::integer[]
      ) as t (info_hash, seeders, leechers)
        join torrents on torrents.info_hash = t.info_hash and torrents.deleted_at is null
    ), change as materialized (
      select torrent_id, to_timestamp(last_seen) as last_seen_at, coalesce(completed, 0) as completed, seeders, leechers
      from seen full join counted using (torrent_id)
    ), known as materialized (
      select change.* from torrent_stats as stats join change using (torrent_id)
      where change.completed > 0 or change.seeders <> stats.seeders or change.leechers <> stats.leechers
        or stats.last_seen_at is null or change.last_seen_at > stats.last_seen_at + ${SEEN_STEP}
      order by stats.torrent_id for no key update of stats
    ), updated as (
      update torrent_stats as stats set
        completed = stats.completed + known.completed,
        last_seen_at = greatest(stats.last_seen_at, known.last_seen_at),
        seeders = coalesce(known.seeders, stats.seeders),
        leechers = coalesce(known.leechers, stats.leechers)
      from known where stats.torrent_id = known.torrent_id
    )
    insert into torrent_stats as stats (torrent_id, completed, last_seen_at, seeders, leechers)
    select torrent_id, completed, last_seen_at, coalesce(seeders, 0), coalesce(leechers, 0)
    from change join torrents on torrents.id = torrent_id
    where not exists (select from torrent_stats where torrent_stats.torrent_id = change.torrent_id)
    order by torrent_id
    on conflict (torrent_id) do update set
      completed = stats.completed + excluded.completed,
      last_seen_at = greatest(stats.last_seen_at, excluded.last_seen_at)`.execute(transaction)
}

/**
 * Adds to the totals of users. An update checks every constraint of the row, which takes longer than the update itself, so
 * it skips users who transferred nothing and were seen recently. The ids are repeated as an array to use the index: for
 * the join alone, the planner would read all users.
 */
async function addToUsers(transaction: Transaction<Schema>, deltas: readonly Delta[]): Promise<void> {
  const totals = new Map<string, { up: number; down: number; actualUp: number; actualDown: number; seen: number }>()
  for (const delta of deltas) {
    const total = totals.get(delta.userId) ?? { up: 0, down: 0, actualUp: 0, actualDown: 0, seen: 0 }
    totals.set(delta.userId, {
      up: total.up + delta.creditedUp,
      down: total.down + delta.creditedDown,
      actualUp: total.actualUp + delta.actualUp,
      actualDown: total.actualDown + delta.actualDown,
      seen: Math.max(total.seen, delta.lastSeen),
    })
  }
  const ids = [...totals.keys()]
  const sums = [...totals.values()]
  await sql`
    with change as (
      select id, up, down, actual_up, actual_down, to_timestamp(seen) as last_seen_at from unnest(
        ${ids}::uuid[], ${sums.map((s) => s.up)}::bigint[], ${sums.map((s) => s.down)}::bigint[],
        ${sums.map((s) => s.actualUp)}::bigint[], ${sums.map((s) => s.actualDown)}::bigint[],
        ${sums.map((s) => s.seen)}::bigint[]
      ) as t (id, up, down, actual_up, actual_down, seen)
    ), locked as materialized (
      select change.* from users join change using (id)
      where users.id = any(${ids}::uuid[]) and (
        change.up > 0 or change.down > 0 or change.actual_up > 0 or change.actual_down > 0
        or users.last_seen_at is null or change.last_seen_at > users.last_seen_at + ${SEEN_STEP}
      )
      order by users.id for no key update of users
    )
    update users set
      uploaded = least(users.uploaded + locked.up, ${MAX_TOTAL}),
      downloaded = least(users.downloaded + locked.down, ${MAX_TOTAL}),
      uploaded_actual = least(users.uploaded_actual + locked.actual_up, ${MAX_TOTAL}),
      downloaded_actual = least(users.downloaded_actual + locked.actual_down, ${MAX_TOTAL}),
      last_seen_at = greatest(users.last_seen_at, locked.last_seen_at)
    from locked where users.id = locked.id and users.id = any(${ids}::uuid[])`.execute(transaction)
}

/** Adds to the daily transfers of users, on the UTC day of their last announce. */
async function addToDays(transaction: Transaction<Schema>, deltas: readonly Delta[]): Promise<void> {
  const days = new Map<string, { user: string; day: string; sums: [number, number, number, number] }>()
  for (const delta of deltas) {
    if (delta.actualUp + delta.actualDown === 0) continue
    const day = utcDay(delta.lastSeen)
    const key = `${delta.userId} ${day}`
    const [up, down, actualUp, actualDown] = days.get(key)?.sums ?? [0, 0, 0, 0]
    days.set(key, {
      user: delta.userId,
      day,
      sums: [
        up + delta.creditedUp,
        down + delta.creditedDown,
        actualUp + delta.actualUp,
        actualDown + delta.actualDown,
      ],
    })
  }
  if (days.size === 0) return
  const rows = [...days.values()]
  const sumsOf = (index: 0 | 1 | 2 | 3): number[] => rows.map(({ sums }) => Math.min(sums[index], MAX_TOTAL))
  await sql`
    insert into user_days as d (user_id, day, uploaded, downloaded, uploaded_actual, downloaded_actual)
    select * from unnest(
      ${rows.map(({ user }) => user)}::uuid[], ${rows.map(({ day }) => day)}::date[],
      ${sumsOf(0)}::bigint[], ${sumsOf(1)}::bigint[], ${sumsOf(2)}::bigint[], ${sumsOf(3)}::bigint[]
    ) as t (user_id, day, up, down, actual_up, actual_down)
    order by user_id, day
    on conflict (user_id, day) do update set
      uploaded = least(d.uploaded + excluded.uploaded, ${MAX_TOTAL}),
      downloaded = least(d.downloaded + excluded.downloaded, ${MAX_TOTAL}),
      uploaded_actual = least(d.uploaded_actual + excluded.uploaded_actual, ${MAX_TOTAL}),
      downloaded_actual = least(d.downloaded_actual + excluded.downloaded_actual, ${MAX_TOTAL})`.execute(transaction)
}

/** @param second since the epoch */
function utcDay(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 10)
}
