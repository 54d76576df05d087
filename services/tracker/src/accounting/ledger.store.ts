import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { Delta } from '../swarm/swarm.ts'
import type { CompletedTorrent, CountedSwarm, Ledger } from './accounting.ts'

/** The largest total, in bytes: nine petabytes. JavaScript cannot represent every integer above. */
const MAX_TOTAL = Number.MAX_SAFE_INTEGER

/** Totals in Postgres. Where several rows are written they are locked in the order of their keys, against deadlocks. */
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
        const completed = deltas.length > 0 ? await addToTorrents(transaction, deltas) : []
        if (deltas.length > 0) {
          await addToUsers(transaction, deltas)
          await addToDays(transaction, deltas)
        }
        if (counts.length > 0) await setCounts(transaction, counts)
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

/** Records the batches as written, and returns those that were not before. */
async function logBatches(transaction: Transaction<Schema>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    insert into flush_log (id) select id from unnest(${ids}::uuid[]) as batch (id) order by id
    on conflict do nothing returning id`.execute(transaction)
  return new Set(rows.map((row) => row.id))
}

/**
 * Adds to what each user did with each torrent, and to how many users completed a torrent after something was left.
 *
 * @returns the torrents that more users completed than before
 */
async function addToTorrents(
  transaction: Transaction<Schema>,
  deltas: readonly Delta[],
): Promise<readonly CompletedTorrent[]> {
  const { rows } = await sql<{ info_hash: Buffer; info_hash_v2: Buffer | null }>`
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
      from delta left join user_torrents as ut using (user_id, torrent_id)
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
    ), counted as (
      insert into torrent_stats as stats (torrent_id, completed, last_seen_at)
      select torrent_id, count(*) filter (where is_first), to_timestamp(max(last_seen))
      from judged join torrents on torrents.id = torrent_id
      group by torrent_id order by torrent_id
      on conflict (torrent_id) do update set
        completed = stats.completed + excluded.completed,
        last_seen_at = greatest(stats.last_seen_at, excluded.last_seen_at)
    )
    select info_hash, info_hash_v2 from torrents
    where id in (select torrent_id from judged where is_first)`.execute(transaction)
  return rows.map((row) => ({ infoHash: row.info_hash, infoHashV2: row.info_hash_v2 }))
}

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
  await sql`select 1 from users where id = any(${ids}::uuid[]) order by id for no key update`.execute(transaction)
  await sql`
    update users set
      uploaded = least(users.uploaded + t.up, ${MAX_TOTAL}),
      downloaded = least(users.downloaded + t.down, ${MAX_TOTAL}),
      uploaded_actual = least(users.uploaded_actual + t.actual_up, ${MAX_TOTAL}),
      downloaded_actual = least(users.downloaded_actual + t.actual_down, ${MAX_TOTAL}),
      last_seen_at = greatest(users.last_seen_at, to_timestamp(t.seen))
    from unnest(
      ${ids}::uuid[], ${sums.map((s) => s.up)}::bigint[], ${sums.map((s) => s.down)}::bigint[],
      ${sums.map((s) => s.actualUp)}::bigint[], ${sums.map((s) => s.actualDown)}::bigint[],
      ${sums.map((s) => s.seen)}::bigint[]
    ) as t (id, up, down, actual_up, actual_down, seen)
    where users.id = t.id`.execute(transaction)
}

/** Adds to what each user transferred on the day of their last announce, in UTC. */
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

/** Writes the counts of swarms whose torrent still exists. */
async function setCounts(transaction: Transaction<Schema>, counts: readonly CountedSwarm[]): Promise<void> {
  await sql`
    insert into torrent_stats as stats (torrent_id, seeders, leechers)
    select torrents.id, t.seeders, t.leechers
    from unnest(
      ${counts.map((c) => c.name)}::bytea[], ${counts.map((c) => c.complete)}::integer[],
      ${counts.map((c) => c.incomplete)}::integer[]
    ) as t (info_hash, seeders, leechers)
      join torrents on torrents.info_hash = t.info_hash and torrents.deleted_at is null
    order by torrents.id
    on conflict (torrent_id) do update set seeders = excluded.seeders, leechers = excluded.leechers`.execute(
    transaction,
  )
}
