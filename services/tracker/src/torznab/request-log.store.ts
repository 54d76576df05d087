import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { AddressCount, HourCount, UserCount } from './request-counts.ts'
import type { LoggedRequest, RequestLogStore } from './request-log.ts'

/** The most that the log stores. */
export type LogBounds = { readonly requests: number; readonly bytes: number }

/** The size of a request with its indexes, without the text of its query. */
const REQUEST_BYTES = 430
/** The most requests deleted by one statement, which takes a tenth of a second. */
const MAX_DELETED = 10_000
/** The maximum number of addresses with separate rows, per hour. */
const MAX_ADDRESSES = 500
/** Represents all other addresses. */
const OTHERS = 'others'

/**
 * The request log and the counts of requests in Postgres. Rows are locked in the order of their keys, which rules out
 * deadlocks with other processes.
 */
export function createRequestLogStore(db: Db, bounds: LogBounds): RequestLogStore {
  return {
    write: ({ id, requests, addresses, counts }) =>
      db.transaction().execute(async (trx) => {
        const written = await trx
          .insertInto('torznab_batches')
          .values({ id })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        if (written.numInsertedOrUpdatedRows === 0n) return
        if (requests.length > 0) {
          await insertRequests(trx, requests)
          await makeRoom(trx, requests, bounds)
        }
        if (addresses.length > 0) await addToAddresses(trx, addresses)
        await addHours(trx, counts.hours)
        await addToUsers(trx, counts.users)
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

/** Deletes the oldest requests beyond the bounds after some were inserted. */
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

/** How many requests are beyond the bounds, assuming an average size. */
function excessOf({ requests, bytes }: Size, bounds: LogBounds): number {
  const tooLarge = Math.ceil(((bytes - bounds.bytes) * requests) / Math.max(1, bytes))
  return Math.max(requests - bounds.requests, tooLarge)
}

/** Deletes up to `most` of the oldest requests. @returns how many */
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

/** Measures the log again, in case rows were deleted or inserted by hand. */
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

/** Adds to the counts of addresses. Other processes wait, which keeps the bound of addresses exact. */
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

async function addHours(trx: Transaction<Schema>, hours: readonly HourCount[]): Promise<void> {
  await sql`
    insert into torznab_hours as h (kind, hour, name, requests, errors, duration_ms)
    select * from unnest(
      ${hours.map((h) => h.kind)}::text[], ${hours.map((h) => h.hour)}::timestamptz[],
      ${hours.map((h) => h.name)}::text[], ${hours.map((h) => h.requests)}::integer[],
      ${hours.map((h) => h.errors)}::integer[], ${hours.map((h) => h.durationMs)}::double precision[]
    )
    on conflict (kind, hour, name) do update set
      requests = h.requests + excluded.requests,
      errors = h.errors + excluded.errors,
      duration_ms = h.duration_ms + excluded.duration_ms`.execute(trx)
}

async function addToUsers(trx: Transaction<Schema>, users: readonly UserCount[]): Promise<void> {
  await sql`
    insert into torznab_users as u (user_id, requests, downloads, errors, violations, first_at, last_at)
    select * from unnest(
      ${users.map((u) => u.userId)}::uuid[], ${users.map((u) => u.requests)}::bigint[],
      ${users.map((u) => u.downloads)}::bigint[], ${users.map((u) => u.errors)}::bigint[],
      ${users.map((u) => u.violations)}::bigint[], ${users.map((u) => u.firstAt)}::timestamptz[],
      ${users.map((u) => u.lastAt)}::timestamptz[]
    )
    on conflict (user_id) do update set
      requests = u.requests + excluded.requests,
      downloads = u.downloads + excluded.downloads,
      errors = u.errors + excluded.errors,
      violations = u.violations + excluded.violations,
      first_at = least(u.first_at, excluded.first_at),
      last_at = greatest(u.last_at, excluded.last_at)`.execute(trx)
}
