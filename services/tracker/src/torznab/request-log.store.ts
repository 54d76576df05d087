import { torznabError } from '@vault-and-tracker/torznab-xml'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { LoggedRequest, RequestLogStore } from './request-log.ts'

/** The most that the log stores. */
export type LogBounds = { readonly requests: number; readonly bytes: number }

/** The size of a request with its indexes, without the text of its query. */
const REQUEST_BYTES = 490
/** The most requests deleted by one statement, which takes a tenth of a second. */
const MAX_DELETED = 10_000
/** The maximum number of addresses with separate rows, per hour. */
const MAX_ADDRESSES = 500
/** Represents all other addresses. */
const OTHERS = 'others'
const WRONG_KEY = torznabError('incorrectCredentials').code

/**
 * The request log and the counts of requests in Postgres. Rows are locked in the order of their keys, which rules out
 * deadlocks with other processes.
 *
 * @param withAddresses whether logged requests have an address; others are always counted by address
 */
export function createRequestLogStore(db: Db, bounds: LogBounds, withAddresses = true): RequestLogStore {
  return {
    write: ({ id, requests }) =>
      db.transaction().execute(async (trx) => {
        const written = await trx
          .insertInto('torznab_batches')
          .values({ id })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        if (written.numInsertedOrUpdatedRows === 0n) return
        const rows = rowsOf(requests)
        await addToLog(trx, rows, bounds, withAddresses)
        if (requests.some(({ logged, authorized }) => logged && !authorized)) await addToAddresses(trx, rows)
        await addToHours(trx, rows)
        await addToUsers(trx, rows)
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

type Rows = RawBuilder<unknown>
type Size = { readonly requests: number; readonly bytes: number }

/** The requests of a batch as rows, from which Postgres counts. */
function rowsOf(requests: readonly LoggedRequest[]): Rows {
  return sql`jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as request (
    id uuid, at timestamptz, "userId" uuid, address text, function text, client text, query text, results integer,
    "durationMs" double precision, error smallint, "refusedBy" text, authorized boolean, logged boolean)`
}

/** Adds authorized requests to the log, and deletes the oldest ones beyond its bounds. */
async function addToLog(
  trx: Transaction<Schema>,
  requests: Rows,
  bounds: LogBounds,
  withAddresses: boolean,
): Promise<void> {
  const { rows } = await sql<Size>`
    with inserted as (
      insert into torznab_requests (id, at, user_id, function, query, results, duration_ms, error, client, address)
      select id, at, "userId", function, query, results, "durationMs", error, client,
        case when ${withAddresses} then address end
      from ${requests} where logged and authorized
      returning ${sql.lit(REQUEST_BYTES)} + octet_length(query) as bytes
    ), sum as (select count(*) as inserted, sum(bytes) as bytes from inserted)
    update torznab_log_size as size set requests = requests + sum.inserted, bytes = size.bytes + sum.bytes
    from sum where sum.inserted > 0
    returning size.requests, size.bytes`.execute(trx)
  const [added] = rows
  if (added === undefined) return
  let size = added
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

/** Adds requests without authorization to the counts of addresses. Other processes wait, which keeps their bound exact. */
async function addToAddresses(trx: Transaction<Schema>, requests: Rows): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('torznab_addresses'))`.execute(trx)
  await sql`
    insert into torznab_addresses as a (hour, address, requests, wrong_keys, over_limits)
    select hour, case when is_known or known + place <= ${MAX_ADDRESSES} then address else ${OTHERS} end,
      sum(requests), sum(wrong_keys), sum(over_limits)
    from (
      select new.*, stored.hour is not null as is_known,
        row_number() over (partition by new.hour, stored.hour is null order by new.requests desc) as place,
        (select count(*) from torznab_addresses as all_of where all_of.hour = new.hour) as known
      from (
        select date_trunc('hour', at, 'UTC') as hour, address, count(*) as requests,
          count(*) filter (where error = ${WRONG_KEY}) as wrong_keys, count("refusedBy") as over_limits
        from ${requests} where logged and not authorized group by 1, 2
      ) as new
      left join torznab_addresses as stored on stored.hour = new.hour and stored.address = new.address
    ) as placed
    group by 1, 2
    on conflict (hour, address) do update set
      requests = a.requests + excluded.requests,
      wrong_keys = a.wrong_keys + excluded.wrong_keys,
      over_limits = a.over_limits + excluded.over_limits`.execute(trx)
}

async function addToHours(trx: Transaction<Schema>, requests: Rows): Promise<void> {
  await sql`
    insert into torznab_hours as h (kind, hour, name, requests, errors, duration_ms)
    select kind, date_trunc('hour', at, 'UTC'), name, count(*), count(error), sum("durationMs")
    from ${requests}, lateral (values ('function', function), ('client', client)) as counted (kind, name)
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (kind, hour, name) do update set
      requests = h.requests + excluded.requests,
      errors = h.errors + excluded.errors,
      duration_ms = h.duration_ms + excluded.duration_ms`.execute(trx)
}

/** Only refusals by a limit are violations: the block of an address may be another user's fault. */
async function addToUsers(trx: Transaction<Schema>, requests: Rows): Promise<void> {
  await sql`
    insert into torznab_users as u (user_id, requests, downloads, errors, violations, first_at, last_at)
    select "userId", count(*), count(*) filter (where function = 'download'), count(error),
      count(*) filter (where "refusedBy" = 'limit'), min(at), max(at)
    from ${requests} where "userId" is not null
    group by 1 order by 1
    on conflict (user_id) do update set
      requests = u.requests + excluded.requests,
      downloads = u.downloads + excluded.downloads,
      errors = u.errors + excluded.errors,
      violations = u.violations + excluded.violations,
      first_at = least(u.first_at, excluded.first_at),
      last_at = greatest(u.last_at, excluded.last_at)`.execute(trx)
}
