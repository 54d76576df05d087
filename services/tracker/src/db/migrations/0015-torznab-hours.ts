import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Requests are counted only by hour in UTC, per function and per family of applications. Everything else is a sum of
  // hours. Each batch updates the rows of the current hour, so pages have free space for new row versions.
  `create table torznab_hours (
    kind text collate "C" not null check (kind in ('function', 'client')),
    hour timestamptz not null,
    name text collate "C" not null,
    requests integer not null,
    errors integer not null,
    duration_ms double precision not null,
    primary key (kind, hour, name)
  ) with (fillfactor = 80)`,
  'lock table torznab_counts in share row exclusive mode',
  `insert into torznab_hours (kind, hour, name, requests, errors, duration_ms)
    select kind, start, name, requests, errors, duration_ms from torznab_counts
    where span = 'hour' and kind in ('function', 'client')`,
  // During an upgrade the previous release still writes its own tables. They stay until the next release, and what it counts
  // is added to the hours.
  `create function torznab_counts_to_hours() returns trigger
    language plpgsql security definer set search_path = public, pg_temp
    as $$
    begin
      insert into torznab_hours as h (kind, hour, name, requests, errors, duration_ms)
      values (new.kind, new.start, new.name, new.requests - coalesce(old.requests, 0),
        new.errors - coalesce(old.errors, 0), new.duration_ms - coalesce(old.duration_ms, 0))
      on conflict (kind, hour, name) do update set
        requests = h.requests + excluded.requests,
        errors = h.errors + excluded.errors,
        duration_ms = h.duration_ms + excluded.duration_ms;
      return null;
    end
    $$`,
  `create trigger torznab_counts_to_hours after insert or update on torznab_counts for each row
    when (new.span = 'hour' and new.kind in ('function', 'client')) execute function torznab_counts_to_hours()`,

  // The users of a range are those whose first request came before its end and whose newest came after its start, instead of
  // sets of users by hour, day and month. The first request of earlier users is known to the day.
  'alter table torznab_users add column first_at timestamptz',
  `update torznab_users as u set first_at = least(last_at, (
    select min(start) from torznab_user_sets
    where span = 'day' and case when number < 8 * length(users) then get_bit(users, number) = 1 end
  ))`,
  `alter table torznab_users alter column first_at set not null, alter column first_at set default now(),
    alter column number drop identity`,
  'alter table torznab_users alter column number drop not null',

  // Releases before 0014 logged requests without a user.
  'delete from torznab_requests where user_id is null',
  'alter table torznab_requests alter column user_id set not null',
  // Releases before 0014 called them.
  'drop function torznab_log_ensure_day(date)',
  'drop function torznab_log_drop_days(date)',
]

/** One hourly count of Torznab requests instead of counts and sets of users by hour, day and month. */
export const torznabHours: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
