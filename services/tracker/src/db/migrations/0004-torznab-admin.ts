import { type Kysely, type Migration, sql } from 'kysely'

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
]

/** The Torznab API's settings, request log and statistics, and the admin log. */
export const torznabAdmin: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
