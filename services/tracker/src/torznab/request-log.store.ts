import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { AddressCount, LoggedRequest, RequestLogStore } from './request-log.ts'
import type { Rollup, UserRow, UsersRow } from './statistics-rollup.ts'
import { withUsers } from './statistics-users.ts'

/** How much the log has room for. */
export type LogBounds = { readonly requests: number; readonly bytes: number }

/** What a request takes with its indexes, in addition to the text of its query. */
const REQUEST_BYTES = 430
/** Deleted in one statement, which takes a tenth of a second. */
const MAX_DELETED = 10_000
/** Addresses of an hour that have a row of their own. */
const MAX_ADDRESSES = 500
/** Stands for all the others. */
const OTHERS = 'others'

/**
 * The request log and its statistics in Postgres. Where several rows are written they are locked in the order of their
 * keys, against deadlocks with other processes.
 */
export function createRequestLogStore(db: Db, bounds: LogBounds): RequestLogStore {
  return {
    write: ({ id, requests, addresses, rollup }) =>
      db.transaction().execute(async (trx) => {
        const logged = await trx
          .insertInto('torznab_batches')
          .values({ id })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        if (logged.numInsertedOrUpdatedRows === 0n) return
        if (requests.length > 0) {
          await insertRequests(trx, requests)
          await makeRoom(trx, requests, bounds)
        }
        if (addresses.length > 0) await addToAddresses(trx, addresses)
        await addCounts(trx, rollup)
        const numbers = await addToUsers(trx, rollup.users)
        for (const userSet of rollup.userSets) await addToUserSet(trx, userSet, numbers)
      }),

    prune: async ({ requestsBefore, batchesBefore }) => {
      await db.deleteFrom('torznab_batches').where('written_at', '<', batchesBefore).execute()
      await db.deleteFrom('torznab_addresses').where('hour', '<', requestsBefore).execute()
      let pruned = 0
      for (let deleted = MAX_DELETED; deleted === MAX_DELETED; pruned += deleted)
        deleted = await db.transaction().execute((trx) => deleteOldest(trx, MAX_DELETED, requestsBefore))
      await measureLog(db)
      return pruned
    },
  }
}

type Size = { readonly requests: number; readonly bytes: number }

/** Deletes the oldest requests that there is no room for, after some were inserted. */
async function makeRoom(
  trx: Transaction<Schema>,
  inserted: readonly LoggedRequest[],
  bounds: LogBounds,
): Promise<void> {
  const bytes = inserted.reduce((sum, { query }) => sum + REQUEST_BYTES + Buffer.byteLength(query), 0)
  let size: Size = await trx
    .updateTable('torznab_log_size')
    .set((eb) => ({ requests: eb('requests', '+', inserted.length), bytes: eb('bytes', '+', bytes) }))
    .returning(['requests', 'bytes'])
    .executeTakeFirstOrThrow()
  for (let excess = excessOf(size, bounds); excess > 0; excess = excessOf(size, bounds)) {
    if ((await deleteOldest(trx, Math.min(excess, MAX_DELETED))) === 0) return
    size = await trx.selectFrom('torznab_log_size').select(['requests', 'bytes']).executeTakeFirstOrThrow()
  }
}

/** How many requests there are too many, if each is of average size. */
function excessOf({ requests, bytes }: Size, bounds: LogBounds): number {
  const tooLarge = Math.ceil(((bytes - bounds.bytes) * requests) / Math.max(1, bytes))
  return Math.max(requests - bounds.requests, tooLarge)
}

/** Deletes the oldest requests, so many at most. @returns how many */
async function deleteOldest(trx: Transaction<Schema>, most: number, before: Date | null = null): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with oldest as (
      select at, id from torznab_requests where ${before}::timestamptz is null or at < ${before} order by at, id limit ${most}
    ), deleted as (
      delete from torznab_requests as r using oldest where r.at = oldest.at and r.id = oldest.id
      returning ${sql.lit(REQUEST_BYTES)} + octet_length(query) as bytes
    ), sum as (select count(*) as deleted, coalesce(sum(bytes), 0) as bytes from deleted)
    update torznab_log_size as size set requests = requests - sum.deleted, bytes = size.bytes - sum.bytes from sum
    returning deleted`.execute(trx)
  return rows[0]?.deleted ?? 0
}

/** Counts the log anew, in case that somebody else deleted from it or inserted into it. */
async function measureLog(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('torznab_log_size').select('requests').forUpdate().execute()
    await sql`
      update torznab_log_size as size set requests = found.requests, bytes = found.bytes
      from (
        select count(*) as requests, coalesce(sum(${sql.lit(REQUEST_BYTES)} + octet_length(query)), 0) as bytes
        from torznab_requests
      ) as found`.execute(trx)
  })
}

/** Adds to what addresses asked by hour. Other processes wait, so that the bound of addresses holds. */
async function addToAddresses(trx: Transaction<Schema>, addresses: readonly AddressCount[]): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('torznab_addresses'))`.execute(trx)
  await sql`
    insert into torznab_addresses as a (hour, address, requests, wrong_keys, over_limits)
    select hour, case when is_known or known + place <= ${MAX_ADDRESSES} then address else ${OTHERS} end,
      sum(requests), sum(wrong_keys), sum(over_limits)
    from (
      select new.*, stored.hour is not null as is_known,
        row_number() over (partition by new.hour, stored.hour is null order by new.requests desc) as place,
        (select count(*) from torznab_addresses as all_of where all_of.hour = new.hour) as known
      from unnest(
        ${addresses.map((a) => a.hour)}::timestamptz[], ${addresses.map((a) => a.address)}::text[],
        ${addresses.map((a) => a.requests)}::bigint[], ${addresses.map((a) => a.wrongKeys)}::bigint[],
        ${addresses.map((a) => a.overLimits)}::bigint[]
      ) as new (hour, address, requests, wrong_keys, over_limits)
      left join torznab_addresses as stored on stored.hour = new.hour and stored.address = new.address
    ) as placed
    group by 1, 2
    on conflict (hour, address) do update set
      requests = a.requests + excluded.requests,
      wrong_keys = a.wrong_keys + excluded.wrong_keys,
      over_limits = a.over_limits + excluded.over_limits`.execute(trx)
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
