import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Constant defaults, so that no row is written. Release keys are filled in as names are parsed again in the background.
  `alter table torrents
    add anonymous boolean not null default false,
    add internal boolean not null default false,
    add scene boolean not null default false,
    add nfo text,
    add media_info text,
    add release_keys text[] not null default '{}',
    add verdict text,
    add duplicate_reason text`,
  // Not validated, because all existing rows are null, and checking them would block uploads and announces meanwhile.
  `alter table torrents
    add constraint torrents_nfo check (length(nfo) <= 65536) not valid,
    add constraint torrents_media_info check (length(media_info) <= 65536) not valid,
    add constraint torrents_verdict check (verdict in ('duplicate', 'covered', 'replaces')) not valid,
    add constraint torrents_duplicate_reason check (length(duplicate_reason) <= 500) not valid`,
  // Empty now, so that uploads wait for a single scan of the table, a second for a million torrents.
  `create index torrents_release_keys on torrents using gin (release_keys) with (fastupdate = off)
    where deleted_at is null and release_keys <> '{}'`,

  // A row per torrent that had peers in the last month. The counts end with last_slot, a number of spans since 1970.
  `create table torrent_history (
    torrent_id uuid primary key references torrents (id) on delete cascade,
    last_slot integer not null,
    seeders integer[] not null,
    leechers integer[] not null,
    check (cardinality(seeders) between 1 and 120 and cardinality(leechers) = cardinality(seeders))
  )`,
  'create index torrent_history_last on torrent_history (last_slot)',

  `create table reports (
    id uuid primary key,
    torrent_id uuid not null references torrents (id) on delete cascade,
    reporter_id uuid not null references users (id),
    reason text not null check (length(reason) between 1 and 1000),
    created_at timestamptz not null,
    resolved_at timestamptz,
    resolved_by uuid references users (id),
    note text check (length(note) <= 1000),
    check ((resolved_at is null) = (resolved_by is null))
  )`,
  'create unique index reports_open_unique on reports (reporter_id, torrent_id) where resolved_at is null',
  'create index reports_open on reports (created_at, id) where resolved_at is null',
  'create index reports_resolved on reports (resolved_at desc, id desc) where resolved_at is not null',
  'create index reports_torrent on reports (torrent_id)',
]

/** What the torrent page shows, and what relates releases of the same title. */
export const releases: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
