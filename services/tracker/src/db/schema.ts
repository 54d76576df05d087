import type { ColumnType, Generated, Kysely } from 'kysely'

/** A column that is set by the insert and never updated. */
type Fixed<T> = ColumnType<T, T, never>

export type UsersTable = {
  id: Fixed<string>
  /** Unique without regard to case. */
  username: string
  email: string
  /** Argon2id in PHC string format. */
  password_hash: string
  role: Generated<'member' | 'moderator' | 'admin'>
  state: Generated<'active' | 'suspended' | 'banned'>
  /** Blocked from the Torznab API. */
  api_blocked: Generated<boolean>
  /** May get .torrent files and announce as a leecher. */
  can_download: Generated<boolean>
  /** Whether other members see uploaded, downloaded and ratio. */
  stats_public: Generated<boolean>
  /** 40 lower-case hex digits. */
  passkey: string
  /** Sessions of a lower epoch are invalid. */
  session_epoch: Generated<number>
  invites_left: Generated<number>
  invited_by: string | null
  /** The percentage of this user's downloads that is charged. */
  download_percent: Generated<number>
  /** The percentage of this user's uploads that is credited. */
  upload_percent: Generated<number>
  /** Bytes after and before multipliers. */
  uploaded: Generated<number>
  downloaded: Generated<number>
  uploaded_actual: Generated<number>
  downloaded_actual: Generated<number>
  created_at: Fixed<Date>
  last_seen_at: Date | null
}

export type InvitesTable = {
  id: Fixed<string>
  /** SHA-256 of the code. */
  code_hash: Fixed<Buffer>
  created_by: Fixed<string>
  created_at: Fixed<Date>
  expires_at: Date
  used_by: string | null
  used_at: Date | null
  /** Making it subtracted one from the allowance of its maker. */
  from_allowance: Fixed<boolean>
}

export type CategoriesTable = {
  id: Fixed<string>
  slug: string
  name: string
  torznab_id: number
  parent_id: string | null
  position: Generated<number>
  created_at: Fixed<Date>
  /** Deleted with all others; the row stays for its torrents, which have no category then. */
  deleted_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

export type TorrentsTable = {
  id: Fixed<string>
  /** 20 bytes: SHA-1 (BEP 3), or truncated SHA-256 for a pure v2 torrent (BEP 52). */
  info_hash: Fixed<Buffer>
  /** 20 bytes: the truncated SHA-256 of a hybrid torrent. */
  info_hash_v2: Fixed<Buffer | null>
  name: string
  /** Null only for a deleted torrent, so that a category without other torrents can be deleted. */
  category_id: string | null
  size: Fixed<number>
  file_count: Fixed<number>
  uploader_id: string | null
  description: Generated<string>
  imdb_id: number | null
  tmdb_id: number | null
  tvdb_id: number | null
  state: Generated<'pending' | 'approved' | 'rejected'>
  /** The reason that a moderator gave for a rejection; of a pending torrent, why it waits. */
  state_reason: string | null
  /** 0 is freeleech, 100 normal. */
  download_percent: Generated<number>
  /** 200 is double upload, 100 normal. */
  upload_percent: Generated<number>
  release_title: string | null
  release_year: number | null
  season_from: number | null
  season_to: number | null
  episode_from: number | null
  episode_to: number | null
  air_date: string | null
  resolution: string | null
  source: string | null
  codec: string | null
  release_group: string | null
  absolute_from: number | null
  absolute_to: number | null
  hdr: Generated<readonly string[]>
  audio: Generated<readonly string[]>
  channels: string | null
  languages: Generated<readonly string[]>
  editions: Generated<readonly string[]>
  is_proper: Generated<boolean>
  is_repack: Generated<boolean>
  /** Which version of the reader of release names filled the columns above; 0 is one before versions were counted. */
  reader_version: Generated<number>
  /** The normalised tokens of name and title; see releases/search-tokens.ts. */
  search: string
  /** What a torrent is found by besides its words; made by the database of the columns above. */
  facets: ColumnType<string, never, never>
  created_at: Fixed<Date>
  /** Deleted torrents stay for 30 days, so that announces get the reason. */
  deleted_at: Date | null
  delete_reason: string | null
}

/** What moderators rejected, by either info hash: it stays known when the torrent is deleted. */
export type RejectionsTable = { info_hash: Fixed<Buffer>; reason: string; rejected_at: Date }

export type TorrentStatsTable = {
  torrent_id: Fixed<string>
  seeders: Generated<number>
  leechers: Generated<number>
  completed: Generated<number>
  last_seen_at: Date | null
  /** The category of a torrent that lists show, else null; kept by triggers. */
  listed_in: ColumnType<string | null, never, never>
}

/** Words that names have; a trigger adds those of new names. */
export type SearchWordsTable = { word: Fixed<string> }

/** Bytes of .torrent files that a user has uploaded on the last day on which they did (UTC). */
export type UploadQuotasTable = { user_id: Fixed<string>; day: string; bytes: number }

export type TorrentFilesTable = {
  torrent_id: Fixed<string>
  /** The bencoded info dictionary, byte for byte. */
  info: Fixed<Buffer>
  /** The bencoded `piece layers` dictionary of a v2 or hybrid torrent. */
  piece_layers: Fixed<Buffer | null>
}

export type TorrentFileListTable = {
  torrent_id: Fixed<string>
  position: Fixed<number>
  path: Fixed<string>
  size: Fixed<number>
}

export type UserTorrentsTable = {
  user_id: Fixed<string>
  torrent_id: Fixed<string>
  /** Bytes after and before multipliers. */
  uploaded: Generated<number>
  downloaded: Generated<number>
  uploaded_actual: Generated<number>
  downloaded_actual: Generated<number>
  seed_seconds: Generated<number>
  bytes_left: number | null
  last_state: 'seeder' | 'leecher' | 'paused' | 'stopped'
  first_seen_at: Fixed<Date>
  last_seen_at: Date
  /** Something was left in an announce of the user. */
  leeched: Generated<boolean>
  /** When the user snatched the torrent: completed it after something was left. Never overwritten once set. */
  completed_at: Date | null
}

export type FlushLogTable = {
  /** The UUID under which the batch was taken from Redis. */
  id: Fixed<string>
  flushed_at: Generated<Date>
}

export type SwarmSamplesTable = {
  span: Fixed<'minute' | 'hour' | 'day'>
  start: Fixed<Date>
  /** How many samples the sums are of. */
  samples: number
  /** Torrents with a peer. */
  swarms: number
  seeders: number
  leechers: number
  announces: number
  refused: number
}

export type UserDaysTable = {
  user_id: Fixed<string>
  day: Fixed<string>
  /** Bytes after and before multipliers. */
  uploaded: number
  downloaded: number
  uploaded_actual: number
  downloaded_actual: number
}

export type SiteSettingsTable = {
  only_row: Generated<boolean>
  download_percent: Generated<number>
  upload_percent: Generated<number>
}

export type AdminLogTable = {
  id: Fixed<string>
  at: Fixed<Date>
  actor_id: Fixed<string>
  action: Fixed<string>
  target_type: Fixed<string>
  target_id: Fixed<string | null>
  target_name: Fixed<string | null>
  before: ColumnType<unknown, string | null, never>
  after: ColumnType<unknown, string | null, never>
}

export type TorznabSettingsTable = {
  only_row: Generated<boolean>
  enabled: Generated<boolean>
  logging: Generated<boolean>
  window_seconds: Generated<number>
  search_limit: Generated<number>
  download_limit: Generated<number>
}

export type TorznabRequestsTable = {
  id: Fixed<string>
  at: Fixed<Date>
  user_id: Fixed<string>
  function: Fixed<string>
  query: Fixed<string>
  results: Fixed<number>
  duration_ms: Fixed<number>
  /** The code of a Torznab error. */
  error: Fixed<number | null>
  /** The family of the application; see torznab/client-family.ts. */
  client: Fixed<string>
}

export type TorznabLogSizeTable = { requests: number; bytes: number }

export type TorznabAddressesTable = {
  hour: Fixed<Date>
  address: Fixed<string>
  requests: number
  wrong_keys: number
  over_limits: number
}

export type TorznabBatchesTable = {
  id: Fixed<string>
  written_at: Generated<Date>
}

export type TorznabHoursTable = {
  kind: Fixed<'function' | 'client' | 'time'>
  hour: Fixed<Date>
  /** The function, the family of applications, or the number of the bucket of response times. */
  name: Fixed<string>
  requests: number
  errors: number
  duration_ms: number
}

export type TorznabUsersTable = {
  user_id: Fixed<string>
  requests: number
  downloads: number
  errors: number
  violations: number
  first_at: Date
  last_at: Date
}

/** The tables as Kysely sees them. The migrations create them. */
export type Schema = {
  users: UsersTable
  invites: InvitesTable
  categories: CategoriesTable
  torrents: TorrentsTable
  rejections: RejectionsTable
  torrent_stats: TorrentStatsTable
  torrent_files: TorrentFilesTable
  upload_quotas: UploadQuotasTable
  torrent_file_list: TorrentFileListTable
  user_torrents: UserTorrentsTable
  search_words: SearchWordsTable
  flush_log: FlushLogTable
  swarm_samples: SwarmSamplesTable
  user_days: UserDaysTable
  site_settings: SiteSettingsTable
  admin_log: AdminLogTable
  torznab_settings: TorznabSettingsTable
  torznab_requests: TorznabRequestsTable
  torznab_log_size: TorznabLogSizeTable
  torznab_addresses: TorznabAddressesTable
  torznab_batches: TorznabBatchesTable
  torznab_hours: TorznabHoursTable
  torznab_users: TorznabUsersTable
}

/** A query builder over the tracker's tables, or a transaction of one. */
export type Db = Kysely<Schema>
