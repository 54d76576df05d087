import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Filters are stored as the query string of the list, so that they do not depend on how a release reads them.
  `create table saved_searches (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    name text not null,
    filters text not null,
    notify boolean not null,
    created_at timestamptz not null,
    visited_at timestamptz not null,
    checked_at timestamptz not null
  )`,
  'create unique index saved_searches_name on saved_searches (user_id, lower(name))',
  'create index saved_searches_checked on saved_searches (checked_at) where notify',
  `create table bookmarks (
    user_id uuid not null references users (id) on delete cascade,
    torrent_id uuid not null references torrents (id) on delete cascade,
    created_at timestamptz not null,
    primary key (user_id, torrent_id)
  )`,
  'create index bookmarks_torrent on bookmarks (torrent_id)',
  // Credentials other than the passkey. Those of feeds name their saved search, or none for the bookmarks.
  `create table tokens (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    hash bytea not null unique check (length(hash) = 32),
    purpose text not null check (purpose = 'feed'),
    saved_search_id uuid references saved_searches (id) on delete cascade,
    created_at timestamptz not null,
    last_used_at timestamptz
  )`,
  'create index tokens_user on tokens (user_id)',
  'create index tokens_saved_search on tokens (saved_search_id)',
  // Lists of torrents with seeders look up each torrent. Most have none, which this tells without reading their counts.
  'create index torrent_stats_alive on torrent_stats (torrent_id) where seeders > 0',
]

/** Saved searches, bookmarks and the tokens of their feeds, and an index for lists of torrents with seeders. */
export const savedSearches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
