import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  // Credited counts have rates applied, actual ones are as the clients reported. Every flush updates rows, so
  // pages have free space for the new row version and the indexes need no update (HOT).
  `create table users (
    id uuid primary key,
    username text not null check (username ~ '^[A-Za-z0-9_][A-Za-z0-9._-]{1,31}$'),
    email text not null check (length(email) between 3 and 254),
    password_hash text not null,
    role text not null default 'member' check (role in ('member', 'moderator', 'admin')),
    state text not null default 'active' check (state in ('active', 'suspended', 'banned')),
    api_blocked boolean not null default false,
    can_download boolean not null default true,
    stats_public boolean not null default true,
    passkey char(40) not null check (passkey ~ '^[0-9a-f]{40}$'),
    session_epoch integer not null default 1,
    invites_left integer not null default 0 check (invites_left >= 0),
    invited_by uuid references users (id),
    download_percent smallint not null default 100 check (download_percent between 0 and 100),
    upload_percent smallint not null default 100 check (upload_percent between 100 and 1000),
    uploaded bigint not null default 0 check (uploaded >= 0),
    downloaded bigint not null default 0 check (downloaded >= 0),
    uploaded_actual bigint not null default 0 check (uploaded_actual >= 0),
    downloaded_actual bigint not null default 0 check (downloaded_actual >= 0),
    created_at timestamptz not null,
    last_seen_at timestamptz
  ) with (fillfactor = 80)`,
  'create unique index users_username_unique on users (lower(username))',
  'create unique index users_email_unique on users (lower(email))',
  'create unique index users_passkey_unique on users (passkey)',

  // The code is a credential, so only its SHA-256 is stored.
  `create table invites (
    id uuid primary key,
    code_hash bytea not null check (octet_length(code_hash) = 32),
    created_by uuid not null references users (id),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_by uuid references users (id),
    used_at timestamptz,
    check ((used_by is null) = (used_at is null))
  )`,
  'create unique index invites_code_unique on invites (code_hash)',
  'create index invites_created_by on invites (created_by, created_at desc)',

  // A Torznab ID may belong to several categories; a slug to one.
  `create table categories (
    id uuid primary key,
    slug text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 40),
    name text not null check (length(name) between 1 and 60),
    torznab_id integer not null check (torznab_id between 1 and 999999),
    parent_id uuid references categories (id),
    position integer not null default 0,
    created_at timestamptz not null
  )`,
  'create unique index categories_slug_unique on categories (slug)',
  'create index categories_parent on categories (parent_id)',

  // info_hash is what clients announce: SHA-1 of BEP 3, or, for a pure v2 torrent, the truncated SHA-256 of BEP 52.
  // info_hash_v2 is the second hash of a hybrid. Hashes are unique among torrents that are not deleted, so that a
  // deleted torrent can be uploaded again while announces still get the reason.
  `create table torrents (
    id uuid primary key,
    info_hash bytea not null check (octet_length(info_hash) = 20),
    info_hash_v2 bytea check (octet_length(info_hash_v2) = 20),
    name text not null check (length(name) between 1 and 255),
    category_id uuid references categories (id),
    size bigint not null check (size >= 0),
    file_count integer not null check (file_count >= 1),
    uploader_id uuid references users (id),
    description text not null default '',
    imdb_id integer,
    tmdb_id integer,
    tvdb_id integer,
    state text not null default 'approved' check (state in ('pending', 'approved', 'rejected')),
    state_reason text,
    download_percent smallint not null default 100 check (download_percent between 0 and 100),
    upload_percent smallint not null default 100 check (upload_percent between 100 and 1000),
    release_title text,
    release_year smallint,
    season_from smallint,
    season_to smallint,
    episode_from integer,
    episode_to integer,
    air_date date,
    resolution text,
    source text,
    codec text,
    release_group text,
    search tsvector not null,
    created_at timestamptz not null,
    deleted_at timestamptz,
    delete_reason text,
    check ((deleted_at is null) = (delete_reason is null)),
    check (category_id is not null or deleted_at is not null)
  )`,
  'create unique index torrents_info_hash_unique on torrents (info_hash) where deleted_at is null',
  'create unique index torrents_info_hash_v2_unique on torrents (info_hash_v2) where deleted_at is null',
  // Announces look up deleted and other torrents in one query, which no partial index serves.
  'create index torrents_info_hash on torrents (info_hash)',
  'create index torrents_info_hash_v2 on torrents (info_hash_v2) where info_hash_v2 is not null',
  'create index torrents_deleted on torrents (deleted_at) where deleted_at is not null',
  // A list shows one state. The first index is for counting: its many equal entries are stored once (deduplication).
  'create index torrents_state on torrents (state, category_id) where deleted_at is null',
  'create index torrents_recent on torrents (state, created_at desc, id desc) where deleted_at is null',
  `create index torrents_category_recent on torrents (category_id, state, created_at desc, id desc)
    where deleted_at is null`,
  'create index torrents_size on torrents (state, size desc, id desc) where deleted_at is null',
  'create index torrents_uploader on torrents (uploader_id) where deleted_at is null',
  'create index torrents_search on torrents using gin (search) with (fastupdate = off)',

  // Every flush changes counts. In a narrow table of their own, they cause no update of the search index.
  `create table torrent_stats (
    torrent_id uuid primary key references torrents (id) on delete cascade,
    seeders integer not null default 0 check (seeders >= 0),
    leechers integer not null default 0 check (leechers >= 0),
    completed integer not null default 0 check (completed >= 0),
    last_seen_at timestamptz
  ) with (fillfactor = 70)`,
  'create index torrent_stats_seeders on torrent_stats (seeders desc, torrent_id desc)',
  'create index torrent_stats_leechers on torrent_stats (leechers desc, torrent_id desc)',

  // The bencoded info dictionary byte for byte, and, for v2, the piece layers that live outside of it (BEP 52).
  `create table torrent_files (
    torrent_id uuid primary key references torrents (id) on delete cascade,
    info bytea not null,
    piece_layers bytea
  )`,
  `create table torrent_file_list (
    torrent_id uuid not null references torrents (id) on delete cascade,
    position integer not null,
    path text not null,
    size bigint not null check (size >= 0),
    primary key (torrent_id, position)
  )`,

  // No foreign keys: a late flush must not fail because a torrent was purged in the meantime.
  `create table user_torrents (
    user_id uuid not null,
    torrent_id uuid not null,
    uploaded bigint not null default 0 check (uploaded >= 0),
    downloaded bigint not null default 0 check (downloaded >= 0),
    uploaded_actual bigint not null default 0 check (uploaded_actual >= 0),
    downloaded_actual bigint not null default 0 check (downloaded_actual >= 0),
    seed_seconds bigint not null default 0 check (seed_seconds >= 0),
    bytes_left bigint,
    last_state text not null check (last_state in ('seeder', 'leecher', 'paused', 'stopped')),
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    completed_at timestamptz,
    primary key (user_id, torrent_id)
  ) with (fillfactor = 80)`,
  'create index user_torrents_torrent on user_torrents (torrent_id)',

  // One row for each batch of accounting that was written: the same batch is never written twice.
  'create table flush_log (id uuid primary key, flushed_at timestamptz not null default now())',
  'create index flush_log_flushed_at on flush_log (flushed_at)',

  // The only row of site-wide settings.
  `create table site_settings (
    only_row boolean primary key default true check (only_row),
    download_percent smallint not null default 100 check (download_percent between 0 and 100),
    upload_percent smallint not null default 100 check (upload_percent between 100 and 1000)
  )`,
  'insert into site_settings default values',
]

/** The first schema: accounts, invites, categories, torrents, and what each user transferred of each torrent. */
export const init: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
