import { errorCode } from '@vault-and-tracker/service-kit/errors'
import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { LoggedRequest, RequestLogStore } from './request-log.ts'
import type { Rollup, UserRow, UsersRow } from './statistics-rollup.ts'
import { withUsers } from './statistics-users.ts'

/** There is no partition for a row (check_violation). */
const NO_PARTITION = '23514'

/**
 * The request log and its statistics in Postgres. Where several rows are written they are locked in the order of their
 * keys, against deadlocks with other processes.
 */
export function createRequestLogStore(db: Db): RequestLogStore {
  /** Days, as `YYYY-MM-DD` in UTC, that certainly have a partition. */
  const days = new Set<string>()

  async function ensureDays(requests: readonly LoggedRequest[]): Promise<void> {
    for (const day of new Set(requests.map(({ at }) => at.toISOString().slice(0, 10)))) {
      if (days.has(day)) continue
      await sql`select torznab_log_ensure_day(${day}::date)`.execute(db)
      days.add(day)
    }
  }

  return {
    write: async ({ id, requests, rollup }) => {
      await ensureDays(requests)
      try {
        await db.transaction().execute(async (trx) => {
          const logged = await trx
            .insertInto('torznab_batches')
            .values({ id })
            .onConflict((conflict) => conflict.doNothing())
            .executeTakeFirst()
          if (logged.numInsertedOrUpdatedRows === 0n) return
          if (requests.length > 0) await insertRequests(trx, requests)
          await addCounts(trx, rollup)
          const numbers = await addToUsers(trx, rollup.users)
          for (const userSet of rollup.userSets) await addToUserSet(trx, userSet, numbers)
        })
      } catch (error) {
        if (errorCode(error) === NO_PARTITION) days.clear()
        throw error
      }
    },

    prune: async ({ daysBefore, batchesBefore }) => {
      await db.deleteFrom('torznab_batches').where('written_at', '<', batchesBefore).execute()
      const before = daysBefore.toISOString().slice(0, 10)
      const { rows } = await sql<{ dropped: number }>`
          select torznab_log_drop_days(${before}::date) as dropped`.execute(db)
      return rows[0]?.dropped ?? 0
    },
  }
}

async function insertRequests(trx: Transaction<Schema>, requests: readonly LoggedRequest[]): Promise<void> {
  await sql`
    insert into torznab_requests (id, at, user_id, function, query, results, duration_ms, error, client)
    select * from unnest(
      ${requests.map((r) => r.id)}::uuid[], ${requests.map((r) => r.at)}::timestamptz[],
      ${requests.map((r) => r.userId)}::uuid[], ${requests.map((r) => r.function)}::text[],
      ${requests.map((r) => r.query)}::text[], ${requests.map((r) => r.results)}::integer[],
      ${requests.map((r) => r.durationMs)}::real[], ${requests.map((r) => r.error)}::smallint[],
      ${requests.map((r) => r.client)}::text[]
    )`.execute(trx)
}

/** Arrays of arrays would have to be of one length, so the buckets of each row come as text. */
async function addCounts(trx: Transaction<Schema>, { counts }: Rollup): Promise<void> {
  await sql`
    insert into torznab_counts as c (span, kind, start, name, requests, errors, duration_ms, buckets)
    select span, kind, start, name, requests, errors, duration_ms, buckets::integer[]
    from unnest(
      ${counts.map((c) => c.span)}::text[], ${counts.map((c) => c.kind)}::text[],
      ${counts.map((c) => c.start)}::timestamptz[], ${counts.map((c) => c.name)}::text[],
      ${counts.map((c) => c.requests)}::bigint[], ${counts.map((c) => c.errors)}::bigint[],
      ${counts.map((c) => c.durationMs)}::double precision[], ${counts.map((c) => `{${c.buckets.join(',')}}`)}::text[]
    ) as new (span, kind, start, name, requests, errors, duration_ms, buckets)
    on conflict (span, kind, start, name) do update set
      requests = c.requests + excluded.requests,
      errors = c.errors + excluded.errors,
      duration_ms = c.duration_ms + excluded.duration_ms,
      buckets = array(
        select coalesce(old, 0) + coalesce(new, 0)
        from unnest(c.buckets, excluded.buckets) with ordinality as bucket (old, new, n) order by n
      )`.execute(trx)
}

/** Adds to what users did, and returns the number of each. */
async function addToUsers(trx: Transaction<Schema>, users: readonly UserRow[]): Promise<ReadonlyMap<string, number>> {
  if (users.length === 0) return new Map()
  const ids = users.map(({ userId }) => userId)
  // Only for those who have no row: an upsert would use up a number for every row that conflicts.
  await sql`
    insert into torznab_users (user_id, last_at)
    select id, last_at
    from unnest(${ids}::uuid[], ${users.map((u) => u.lastAt)}::timestamptz[]) as new (id, last_at)
    where not exists (select from torznab_users where user_id = new.id)
    order by id on conflict do nothing`.execute(trx)
  await sql`select 1 from torznab_users where user_id = any(${ids}::uuid[]) order by user_id for update`.execute(trx)
  const { rows } = await sql<{ user_id: string; number: number }>`
    update torznab_users as u set
      requests = u.requests + t.requests,
      downloads = u.downloads + t.downloads,
      errors = u.errors + t.errors,
      violations = u.violations + t.violations,
      last_at = greatest(u.last_at, t.last_at)
    from unnest(
      ${ids}::uuid[], ${users.map((u) => u.requests)}::bigint[], ${users.map((u) => u.downloads)}::bigint[],
      ${users.map((u) => u.errors)}::bigint[], ${users.map((u) => u.violations)}::bigint[],
      ${users.map((u) => u.lastAt)}::timestamptz[]
    ) as t (id, requests, downloads, errors, violations, last_at)
    where u.user_id = t.id
    returning u.user_id, u.number`.execute(trx)
  return new Map(rows.map((row) => [row.user_id, row.number]))
}

/** Adds users to the set of a span. Most batches only have users that are in it already, and then nothing is locked. */
async function addToUserSet(
  trx: Transaction<Schema>,
  { span, start, userIds }: UsersRow,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const added = [...userIds].flatMap((id) => numbers.get(id) ?? [])
  const stored = trx.selectFrom('torznab_user_sets').select('users').where('span', '=', span).where('start', '=', start)
  const found = await stored.executeTakeFirst()
  if (found !== undefined && withUsers(found.users, added) === found.users) return
  if (found === undefined)
    await trx
      .insertInto('torznab_user_sets')
      .values({ span, start, users: Buffer.alloc(0) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  const { users } = await stored.forUpdate().executeTakeFirstOrThrow()
  await trx
    .updateTable('torznab_user_sets')
    .set({ users: Buffer.from(withUsers(users, added)) })
    .where('span', '=', span)
    .where('start', '=', start)
    .execute()
}
