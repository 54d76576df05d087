import { type Kysely, type Migration, sql } from 'kysely'

/** As many of the newest requests are kept as the log has by default. */
const KEPT = 1_000_000

const STATEMENTS = [
  // The request log is bounded by rows and bytes, of which the oldest go first: a plain table instead of one partition for
  // each day. Requests without a user are not kept.
  'alter table torznab_requests rename to torznab_requests_by_day',
  `create table torznab_requests_new (
    id uuid not null,
    at timestamptz not null,
    user_id uuid,
    function text collate "C" not null,
    query text not null,
    results integer not null,
    duration_ms real not null,
    error smallint,
    client text collate "C" not null
  )`,
  `insert into torznab_requests_new (id, at, user_id, function, query, results, duration_ms, error, client)
    select id, at, user_id, function, regexp_replace(query, '[0-9a-f]{40,}', '[redacted]', 'gi'), results, duration_ms, error, client
    from torznab_requests_by_day
    where user_id is not null order by at desc, id desc limit ${KEPT}`,
  'drop table torznab_requests_by_day',
  'drop schema torznab_log',
  'alter table torznab_requests_new rename to torznab_requests',
  'alter table torznab_requests add constraint torznab_requests_pkey primary key (at, id)',
  'create index torznab_requests_user on torznab_requests (user_id, at, id)',
  'create index torznab_requests_function on torznab_requests (function, at, id)',
  'create index torznab_requests_errors on torznab_requests (at, id) where error is not null',
  'create index torznab_requests_error on torznab_requests (error, at, id) where error is not null',
  // The previous release calls them.
  `create or replace function torznab_log_ensure_day(day date) returns void language sql set search_path = public, pg_temp
    as 'select'`,
  `create or replace function torznab_log_drop_days(before date) returns integer language sql
    set search_path = public, pg_temp as 'select 0'`,

  // How much is in the log; see torznab/request-log.store.ts.
  `create table torznab_log_size (
    only_row boolean primary key default true check (only_row),
    requests bigint not null default 0,
    bytes bigint not null default 0
  )`,
  `insert into torznab_log_size (requests, bytes)
    select count(*), coalesce(sum(430 + octet_length(query)), 0) from torznab_requests`,

  // Requests that are counted instead of logged: those without a valid key, and refused ones. One row for each address,
  // an IPv6 address with its /64, and hour; those beyond a bound are of the address "others".
  `create table torznab_addresses (
    hour timestamptz not null,
    address text collate "C" not null,
    requests bigint not null,
    wrong_keys bigint not null,
    over_limits bigint not null,
    primary key (hour, address)
  ) with (fillfactor = 80)`,
]

/** A bounded log of Torznab requests, and those by address that are not in it. */
export const torznabLog: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
