import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Creates the partition of a day. It runs with the rights of the owner, so that the service can call it without rights
 * to change tables. Attaching a finished table takes a weaker lock on the log than creating a partition in place.
 */
const ENSURE_DAY = `create function torznab_log_ensure_day(day date) returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  as $$
  declare
    partition text := 'day_' || to_char(day, 'YYYYMMDD');
    first timestamptz := day::timestamp at time zone 'UTC';
    next timestamptz := (day + 1)::timestamp at time zone 'UTC';
  begin
    if abs(day - (now() at time zone 'UTC')::date) > 400 then
      raise exception 'the request log has no such day';
    end if;
    if to_regclass('torznab_log.' || partition) is not null then return; end if;
    perform pg_advisory_xact_lock(hashtext('torznab_log'));
    if to_regclass('torznab_log.' || partition) is not null then return; end if;
    execute format('create table torznab_log.%I (like torznab_requests including defaults)', partition);
    execute format('alter table torznab_requests attach partition torznab_log.%I for values from (%L) to (%L)',
      partition, first, next);
  exception
    -- Made by the transaction that held the lock: this one's snapshot of the catalogue may be older.
    when duplicate_table then null;
  end
  $$`

/** Drops the partitions of the days before a day; never those of yesterday and later. Returns how many. */
const DROP_DAYS = `create function torznab_log_drop_days(before date) returns integer
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  as $$
  declare
    last text := 'day_' || to_char(least(before, (now() at time zone 'UTC')::date - 1), 'YYYYMMDD');
    partition text;
    dropped integer := 0;
  begin
    perform pg_advisory_xact_lock(hashtext('torznab_log'));
    for partition in
      select relname from pg_class
      where relnamespace = 'torznab_log'::regnamespace and relkind = 'r' and relname like 'day\\_%' and relname < last
      order by relname
    loop
      execute format('drop table torznab_log.%I', partition);
      dropped := dropped + 1;
    end loop;
    return dropped;
  end
  $$`

const STATEMENTS = [
  // What administrators and moderators did. The run-time role can only read and append.
  `create table admin_log (
    id uuid primary key,
    at timestamptz not null,
    actor_id uuid not null references users (id),
    action text not null,
    target_type text not null,
    target_id text,
    target_name text,
    before jsonb,
    after jsonb
  )`,
  'create index admin_log_at on admin_log (at desc, id desc)',
  'create index admin_log_actor on admin_log (actor_id, at desc, id desc)',
  'create index admin_log_action on admin_log (action, at desc, id desc)',

  // The one row of settings of the Torznab API.
  `create table torznab_settings (
    only_row boolean primary key default true check (only_row),
    enabled boolean not null default true,
    logging boolean not null default true,
    window_seconds integer not null default 60 check (window_seconds between 10 and 3600),
    search_limit integer not null default 30 check (search_limit between 1 and 10000),
    download_limit integer not null default 20 check (download_limit between 1 and 10000)
  )`,
  'insert into torznab_settings default values',

  // The request log: one partition for each day in UTC, so that days are dropped in one step. They are in a schema of
  // their own, where the run-time role has no rights: it reads and appends through the parent only.
  'create schema torznab_log',
  `create table torznab_requests (
    id uuid not null,
    at timestamptz not null,
    user_id uuid,
    function text collate "C" not null,
    query text not null,
    results integer not null,
    duration_ms real not null,
    error smallint,
    client text collate "C" not null,
    primary key (at, id)
  ) partition by range (at)`,
  'create index torznab_requests_user on torznab_requests (user_id, at, id)',
  'create index torznab_requests_function on torznab_requests (function, at, id)',
  'create index torznab_requests_errors on torznab_requests (at, id) where error is not null',
  'create index torznab_requests_error on torznab_requests (error, at, id) where error is not null',
  ENSURE_DAY,
  'revoke execute on function torznab_log_ensure_day(date) from public',
  DROP_DAYS,
  'revoke execute on function torznab_log_drop_days(date) from public',
  // One row for each batch of requests that was written: the same batch is never written twice.
  'create table torznab_batches (id uuid primary key, written_at timestamptz not null default now())',
  'create index torznab_batches_written_at on torznab_batches (written_at)',

  // Statistics: requests are counted as they are written, by hour, day and month in UTC; all of them, those of each
  // function and those of each family of applications. The key begins with what a query names, so that it reads only
  // that. `buckets` are response times; see torznab/statistics-histogram.ts. Each batch updates the same rows, so pages
  // have free space for new row versions.
  `create table torznab_counts (
    span text collate "C" not null check (span in ('hour', 'day', 'month')),
    kind text collate "C" not null check (kind in ('all', 'function', 'client')),
    start timestamptz not null,
    name text collate "C" not null,
    requests bigint not null,
    errors bigint not null,
    duration_ms double precision not null,
    buckets integer[] not null,
    primary key (span, kind, start, name)
  ) with (fillfactor = 80)`,
  // What each user did since counting began. Users have small numbers, which stand for them in sets of users.
  `create table torznab_users (
    user_id uuid primary key references users (id),
    number integer not null generated always as identity (minvalue 0 start 0),
    requests bigint not null default 0,
    downloads bigint not null default 0,
    errors bigint not null default 0,
    violations bigint not null default 0,
    last_at timestamptz not null,
    unique (number)
  ) with (fillfactor = 80)`,
  'create index users_api_blocked on users (id) where api_blocked',
  // The users of a span, as bits; see torznab/statistics-users.ts.
  `create table torznab_user_sets (
    span text collate "C" not null check (span in ('hour', 'day', 'month')),
    start timestamptz not null,
    users bytea not null,
    primary key (span, start)
  ) with (fillfactor = 80)`,
]

/** The Torznab API's settings, request log and statistics, and the admin log. */
export const torznabAdmin: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
