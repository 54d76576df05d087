import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // The kinds are not listed here, so that a new one needs no migration.
  `create table notices (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    kind text not null check (kind ~ '^[a-z-]{1,40}$'),
    topic text,
    torrent_id uuid references torrents (id) on delete cascade,
    times integer not null default 1 check (times >= 1),
    details jsonb not null default '{}',
    created_at timestamptz not null,
    read_at timestamptz
  )`,
  'create index notices_user on notices (user_id, created_at desc, id desc)',
  // The counts of unread notices are polled.
  'create index notices_unread on notices (user_id, created_at desc, id desc) where read_at is null',
  'create unique index notices_topic on notices (user_id, kind, topic) where read_at is null',
  'create index notices_torrent on notices (torrent_id) where torrent_id is not null',
  "alter table users add muted_notices text[] not null default '{}'",

  `create table reseed_requests (
    torrent_id uuid primary key references torrents (id) on delete cascade,
    user_id uuid not null references users (id),
    requested_at timestamptz not null
  )`,
  'create index reseed_requests_user on reseed_requests (user_id, requested_at)',

  // The lists of a member's torrents. Announces change none of these columns, except when a peer starts, stops or
  // completes, so that other flushes still update no index.
  `create index torrents_uploads on torrents (uploader_id, created_at desc, id desc) where deleted_at is null`,
  'drop index torrents_uploader',
  `create index user_torrents_snatched on user_torrents (user_id, completed_at desc, torrent_id desc)
    where completed_at is not null`,
  `create index user_torrents_active on user_torrents (user_id) where last_state <> 'stopped'`,
]

/** Notices to members, requests for seeders, and the lists of a member's torrents. */
export const notices: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
