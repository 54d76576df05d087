import type { ColumnType, Generated, Kysely } from 'kysely'
import type { Verdict } from '../releases/related-releases.ts'

/** A column that is set on insert and never updated. */
type Fixed<T> = ColumnType<T, T, never>

export type UsersTable = {
  id: Fixed<string>
  /** Unique case-insensitively. */
  username: string
  email: string
  /** Argon2id in PHC string format. */
  password_hash: string
  role: Generated<'member' | 'moderator' | 'admin'>
  /** Suspended accounts are active after `suspended_until`; see `stateAt`. */
  state: Generated<'active' | 'suspended' | 'banned'>
  suspended_until: Date | null
  /** Why the account is suspended or banned. */
  state_reason: string | null
  /** Blocked from the Torznab API. */
  api_blocked: Generated<boolean>
  /** Can download .torrent files and announce as a leecher. */
  can_download: Generated<boolean>
  /** Whether other members can see the totals and ratio. */
  stats_public: Generated<boolean>
  /** 40 lowercase hex digits. */
  passkey: string
  passkey_opens_torznab: Generated<boolean>
  announce_limit: Generated<number | null>
  /** Sessions of a lower epoch are invalid. */
  session_epoch: Generated<number>
  invites_left: Generated<number>
  invited_by: string | null
  /** Percentage of the user's downloads that is counted. */
  download_percent: Generated<number>
  /** Percentage of the user's uploads that is counted. */
  upload_percent: Generated<number>
  /** Bytes with and without rates. */
  uploaded: Generated<number>
  downloaded: Generated<number>
  uploaded_actual: Generated<number>
  downloaded_actual: Generated<number>
  created_at: Fixed<Date>
  last_seen_at: Date | null
  /** The kinds of notices that the user does not receive. */
  muted_notices: Generated<readonly string[]>
  /** The kinds of notices that the user also receives by email, and when the last email was due. */
  mailed_notices: Generated<readonly string[]>
  notices_mailed_at: Date | null
}

/** See factors/factors.ts. */
export type SecondFactorsTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  kind: Fixed<'totp' | 'security-key'>
  name: Fixed<string>
  created_at: Fixed<Date>
  last_used_at: ColumnType<Date | null, never, Date>
  secret: ColumnType<Buffer | null, Buffer | undefined, never>
  /** The last step of 30 s whose code was accepted. */
  last_step: number | null
  credential_id: ColumnType<Buffer | null, Buffer | undefined, never>
  public_key: ColumnType<Buffer | null, Buffer | undefined, never>
  counter: number | null
  transports: ColumnType<readonly string[] | null, readonly string[] | undefined, never>
}

export type RecoveryCodesTable = {
  user_id: Fixed<string>
  /** SHA-256 of the code. */
  code_hash: Fixed<Buffer>
}

/** See accounts/mail-links.ts. */
export type MailLinksTable = {
  user_id: Fixed<string>
  kind: Fixed<'password' | 'email'>
  /** SHA-256 of the token. */
  token_hash: Buffer
  email: string
  session_epoch: number
  created_at: Date
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
  /** Whether it was subtracted from the allowance of its creator. */
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
  /** Set if all categories were deleted. The row stays for its torrents, which then have no category. */
  deleted_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

export type TorrentsTable = {
  id: Fixed<string>
  /** 20 bytes: SHA-1 (BEP 3), or truncated SHA-256 for a pure v2 torrent (BEP 52). */
  info_hash: Fixed<Buffer>
  /** 20 bytes: the truncated SHA-256 of a hybrid torrent. */
  info_hash_v2: Fixed<Buffer | null>
  name: string
  /** Null only for deleted torrents, so that their category can be deleted. */
  category_id: string | null
  size: Fixed<number>
  file_count: Fixed<number>
  uploader_id: string | null
  description: Generated<string>
  imdb_id: number | null
  tmdb_id: number | null
  tvdb_id: number | null
  state: Generated<'pending' | 'approved' | 'rejected'>
  /** Whether the uploader is hidden from other members. */
  anonymous: Generated<boolean>
  /** Whether staff of the site made the release. */
  internal: Generated<boolean>
  scene: Generated<boolean>
  nfo: string | null
  media_info: string | null
  /** What relates the release to others; see releases/related-releases.ts. */
  release_keys: Generated<readonly string[]>
  /** What the catalogue said about the release when it was uploaded. */
  verdict: Verdict | null
  /** Why it was uploaded although it is a duplicate. */
  duplicate_reason: string | null
  /** The moderator's reason for a rejection, or why a torrent is pending. */
  state_reason: string | null
  /** Whether it was ever approved. */
  was_approved: Generated<boolean>
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
  /** The parser version that filled the columns above; 0 is from before versions were counted. */
  reader_version: Generated<number>
  /** The indexed words of name and title; see releases/search-words.ts. */
  search: string
  /** Search terms other than words, generated by the database from the columns above. */
  facets: ColumnType<string, never, never>
  /** The time of the upload, and after the first approval that of the approval. */
  created_at: Date
  /** Deleted torrents stay for 30 days, so that announces receive the reason. */
  deleted_at: Date | null
  delete_reason: string | null
}

/** Rejections by either info hash, which outlive deleted torrents. */
export type RejectionsTable = { info_hash: Fixed<Buffer>; reason: string; rejected_at: Date }

export type TorrentStatsTable = {
  torrent_id: Fixed<string>
  seeders: Generated<number>
  leechers: Generated<number>
  completed: Generated<number>
  last_seen_at: Date | null
  /** The category of a listed torrent, else null; maintained by triggers. */
  listed_in: ColumnType<string | null, never, never>
}

/** Peers of a torrent by span of six hours; see swarm-statistics/torrent-history.ts. */
export type TorrentHistoryTable = {
  torrent_id: Fixed<string>
  last_slot: number
  seeders: readonly number[]
  leechers: readonly number[]
}

/** Reports of torrents by members. */
export type ReportsTable = {
  id: Fixed<string>
  torrent_id: Fixed<string>
  reporter_id: Fixed<string>
  reason: Fixed<string>
  created_at: Fixed<Date>
  resolved_at: Date | null
  resolved_by: string | null
  note: string | null
}

/** The words of all names; a trigger adds those of new names. */
export type SearchWordsTable = { word: Fixed<string> }

/** Bytes of .torrent files that a user uploaded on the last UTC day with an upload. */
export type UploadQuotasTable = { user_id: Fixed<string>; day: string; bytes: number }

export type TorrentFilesTable = {
  torrent_id: Fixed<string>
  /** The bencoded info dictionary, byte for byte. */
  info: Fixed<Buffer>
  /** The bencoded `piece layers` dictionary of a v2 or hybrid torrent. */
  piece_layers: Fixed<Buffer | null>
}

/** A trigger inserts the row of each new torrent. */
export type TorrentNumbersTable = {
  number: Generated<number>
  torrent_id: Fixed<string>
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
  /** Bytes with and without rates. */
  uploaded: Generated<number>
  downloaded: Generated<number>
  uploaded_actual: Generated<number>
  downloaded_actual: Generated<number>
  seed_seconds: Generated<number>
  bytes_left: number | null
  last_state: 'seeder' | 'leecher' | 'paused' | 'stopped'
  first_seen_at: Fixed<Date>
  last_seen_at: Date
  /** Whether an announce of the user had bytes left. */
  leeched: Generated<boolean>
  /** When the user snatched the torrent, that is, completed it after having bytes left. Never overwritten. */
  completed_at: Date | null
}

/** See notices/notices.ts. */
export type NoticesTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  kind: Fixed<string>
  /** An unread notice of the same user, kind and topic is replaced. */
  topic: Fixed<string | null>
  torrent_id: string | null
  times: Generated<number>
  details: ColumnType<unknown, string, string>
  created_at: Date
  read_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

/** Warnings to members by staff. */
export type WarningsTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  author_id: Fixed<string>
  text: Fixed<string>
  created_at: Fixed<Date>
}

/** Notes on torrents by staff and for staff. */
export type TorrentNotesTable = {
  id: Fixed<string>
  torrent_id: Fixed<string>
  author_id: Fixed<string>
  text: Fixed<string>
  created_at: Fixed<Date>
}

/** The last request for seeders of each torrent. */
export type ReseedRequestsTable = { torrent_id: Fixed<string>; user_id: string; requested_at: Date }

export type SavedSearchesTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  /** Unique per user, case-insensitively. */
  name: string
  /** The query string of the list, without its page. */
  filters: string
  notify: boolean
  created_at: Fixed<Date>
  visited_at: Date
  /** When matches were last looked for to notify the user. */
  checked_at: Date
}

export type BookmarksTable = { user_id: Fixed<string>; torrent_id: Fixed<string>; created_at: Fixed<Date> }

export type TokensTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  /** SHA-256 of the token. */
  hash: Fixed<Buffer>
  /** One feed, or the APIs that the scopes open. */
  purpose: Fixed<'feed' | 'api'>
  /** The list of a feed is a saved search, a category, or without both the bookmarks. */
  saved_search_id: ColumnType<string | null, string | null | undefined, never>
  category_id: ColumnType<string | null, string | null | undefined, never>
  /** Null for a feed, as the scopes. Unique per user, case-insensitively. */
  name: ColumnType<string | null, string | undefined, never>
  scopes: ColumnType<string[] | null, string[] | undefined, never>
  expires_at: ColumnType<Date | null, Date | null | undefined, never>
  /** Addresses and CIDR ranges from which it may be used; empty for any. */
  addresses: ColumnType<string[], string[] | undefined, never>
  /** 40 lower-case hex digits in the files downloaded with the token; null before the first one. */
  announce_key: Generated<string | null>
  created_at: Fixed<Date>
  /** Up to a minute late. */
  last_used_at: Date | null
  last_used_address: string | null
}

export type EventsTable = {
  /** In the order of the commits. */
  id: ColumnType<number, never, never>
  torrent_id: Fixed<string>
  created_at: Fixed<Date>
}

/** See webhooks/webhooks.ts and webhooks/deliveries.ts. */
export type WebhooksTable = {
  id: Fixed<string>
  user_id: Fixed<string | null>
  url: string
  format: 'json' | 'discord' | 'slack' | 'ntfy'
  saved_search_id: string | null
  enabled: boolean
  created_at: Fixed<Date>
  position: number
  failures: Generated<number>
  failing_since: Date | null
  retry_at: Date | null
  lease: string | null
  leased_until: Date | null
  attempted_at: Date | null
  result: string | null
  /** The slowest response of late; null before the first one. */
  response_ms: Generated<number | null>
}

export type WebhookKeysTable = { id: Fixed<number>; seed: Fixed<Buffer> }

export type FlushLogTable = {
  /** The id of the batch in Redis. */
  id: Fixed<string>
  flushed_at: Generated<Date>
}

export type SwarmSamplesTable = {
  span: Fixed<'minute' | 'hour' | 'day'>
  start: Fixed<Date>
  /** The number of samples in the sums. */
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
  /** Bytes with and without rates. */
  uploaded: number
  downloaded: number
  uploaded_actual: number
  downloaded_actual: number
}

export type SiteSettingsTable = {
  only_row: Generated<boolean>
  download_percent: Generated<number>
  upload_percent: Generated<number>
  /** Null leaves the configuration of the server in force, as below. */
  name: string | null
  accent: string | null
  /** The digest of a row in `site_logos`. */
  logo: string | null
  registration: 'open' | 'invite' | 'closed' | null
  upload_approval: 'automatic' | 'manual' | null
  edit_approval: 'automatic' | 'manual' | null
  seed_hours: number | null
  staff_second_factor: boolean | null
  checklist_dismissed: Generated<boolean>
  /** Whether the site ever had an administrator; maintained by a trigger. */
  had_administrator: ColumnType<boolean, never, never>
  /** Each as `ruleText`. */
  client_rules: readonly string[] | null
}

/** The peers and users of a client on a day, at the time of that day with the most. `client` is the start of its peer ids. */
export type ClientDaysTable = { day: Fixed<string>; client: Fixed<string>; peers: number; users: number }

/** See accounts/first-administrator.ts. */
export type SetupCodesTable = {
  /** SHA-256 of the code. */
  code_hash: Fixed<Buffer>
  created_at: ColumnType<Date, never, never>
}

/** The current logo; at most one row. */
export type SiteLogosTable = { digest: Fixed<string>; png: Fixed<Buffer> }

/** The versions of the rules. The highest applies. */
export type RulesTable = {
  version: Fixed<number>
  /** Markdown. */
  text: Fixed<string>
  published_by: Fixed<string>
  published_at: Fixed<Date>
}

export type RuleAcceptancesTable = { user_id: Fixed<string>; version: Fixed<number>; accepted_at: Fixed<Date> }

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
  /** A Torznab error code. */
  error: Fixed<number | null>
  /** The family of the application; see torznab/request-log.ts. */
  client: Fixed<string>
  /** An IPv4 address, or the /64 of an IPv6 address. */
  address: ColumnType<string | null, string | null | undefined, never>
}

/** See addresses/addresses.ts. */
export type UserAddressesTable = {
  user_id: Fixed<string>
  address: Fixed<string>
  kind: Fixed<'web' | 'api' | 'announce'>
  requests: number
  first_at: Date
  last_at: Date
}

/** Notes on users by staff and for staff. */
export type UserNotesTable = {
  id: Fixed<string>
  user_id: Fixed<string>
  author_id: Fixed<string>
  text: Fixed<string>
  created_at: Fixed<Date>
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
  kind: Fixed<'function' | 'client'>
  hour: Fixed<Date>
  /** The function or the family of applications. */
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

/** The tables for Kysely, created by the migrations. */
export type Schema = {
  users: UsersTable
  second_factors: SecondFactorsTable
  recovery_codes: RecoveryCodesTable
  mail_links: MailLinksTable
  invites: InvitesTable
  categories: CategoriesTable
  torrents: TorrentsTable
  rejections: RejectionsTable
  torrent_numbers: TorrentNumbersTable
  torrent_stats: TorrentStatsTable
  torrent_history: TorrentHistoryTable
  reports: ReportsTable
  torrent_files: TorrentFilesTable
  upload_quotas: UploadQuotasTable
  torrent_file_list: TorrentFileListTable
  user_torrents: UserTorrentsTable
  search_words: SearchWordsTable
  saved_searches: SavedSearchesTable
  bookmarks: BookmarksTable
  tokens: TokensTable
  warnings: WarningsTable
  torrent_notes: TorrentNotesTable
  user_notes: UserNotesTable
  user_addresses: UserAddressesTable
  notices: NoticesTable
  reseed_requests: ReseedRequestsTable
  events: EventsTable
  webhooks: WebhooksTable
  webhook_keys: WebhookKeysTable
  flush_log: FlushLogTable
  swarm_samples: SwarmSamplesTable
  user_days: UserDaysTable
  site_settings: SiteSettingsTable
  site_logos: SiteLogosTable
  setup_codes: SetupCodesTable
  client_days: ClientDaysTable
  rules: RulesTable
  rule_acceptances: RuleAcceptancesTable
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
