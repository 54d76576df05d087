import { type InfoHash, infoHashFromBytes, type Passkey, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type ClientRule, compileRules, parseRule } from '../clients/client-rules.ts'
import { stateAt } from '../db/queries.store.ts'
import type { Db, TorrentsTable, UsersTable } from '../db/schema.ts'
import type { AnnounceTorrent, LookupStore, PasskeyUser } from './lookups.ts'

const USER_COLUMNS = [
  'users.id',
  'users.state',
  'users.suspended_until',
  'users.role',
  'users.can_download',
  'users.api_blocked',
  'users.announce_limit',
  'users.upload_percent',
  'users.download_percent',
] as const

/** Reads users and torrents from Postgres, many per query. */
export function createLookupStore(db: Db, clock: Clock, defaultRules: readonly ClientRule[]): LookupStore {
  return {
    users: async (keys) => {
      const users = new Map<Passkey, PasskeyUser>()
      const rows = await db
        .selectFrom('users')
        .select(USER_COLUMNS)
        .select(['users.passkey as key', 'users.passkey_opens_torznab as opensTorznab'])
        .where('users.passkey', 'in', keys)
        .execute()
      for (const row of rows) addUser(users, row, { opensTorznab: row.opensTorznab, endsAt: undefined }, clock)
      const others = keys.filter((key) => !users.has(key))
      if (others.length === 0) return users
      for (const row of await byAnnounceKeys(db, others).execute())
        addUser(users, row, { opensTorznab: false, endsAt: row.expires?.getTime() }, clock)
      return users
    },

    torrents: async (infoHashes) => {
      const hashes = infoHashes.map((hash) => Buffer.from(hash, 'hex'))
      const { rows } = await selectTorrents(hashes).execute(db)
      const torrents = new Map<InfoHash, AnnounceTorrent>()
      for (const row of rows) {
        const names = [row.info_hash, row.info_hash_v2].flatMap((hash) => {
          const name = hash === null ? undefined : infoHashFromBytes(hash)
          return name === undefined ? [] : [name]
        })
        const deleted = row.deleted_at !== null
        const torrent: AnnounceTorrent = {
          id: uuidBytes(row.id),
          swarm: row.info_hash,
          infoHashes: names,
          state: deleted ? 'deleted' : row.state,
          reason: deleted ? row.delete_reason : row.state_reason,
          completed: row.completed ?? 0,
          peers: (row.seeders ?? 0) + (row.leechers ?? 0),
          uploadPercent: row.upload_percent,
          downloadPercent: row.download_percent,
        }
        for (const name of names) torrents.set(name, torrent)
      }
      return torrents
    },

    site: async () => {
      const row = await db
        .selectFrom('site_settings')
        .select(['upload_percent', 'download_percent', 'client_rules'])
        .executeTakeFirstOrThrow()
      const rules = row.client_rules?.flatMap((text) => parseRule(text) ?? []) ?? defaultRules
      const { upload_percent: uploadPercent, download_percent: downloadPercent } = row
      return { uploadPercent, downloadPercent, clients: compileRules(rules) }
    },
  }
}

/** The users of announce keys. The feed of a category ends with it. */
function byAnnounceKeys(db: Db, keys: readonly Passkey[]) {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .leftJoin('categories', 'categories.id', 'tokens.category_id')
    .select(USER_COLUMNS)
    .select(['tokens.announce_key as key', 'tokens.expires_at as expires'])
    .where('tokens.announce_key', 'in', keys)
    .where('categories.deleted_at', 'is', null)
}

type UserRow = Pick<
  Selectable<UsersTable>,
  | 'id'
  | 'state'
  | 'suspended_until'
  | 'role'
  | 'can_download'
  | 'api_blocked'
  | 'announce_limit'
  | 'upload_percent'
  | 'download_percent'
> & { readonly key: string | null }

function addUser(
  users: Map<Passkey, PasskeyUser>,
  row: UserRow,
  { opensTorznab, endsAt }: Pick<PasskeyUser, 'opensTorznab' | 'endsAt'>,
  clock: Clock,
): void {
  const key = row.key === null ? undefined : parsePasskey(row.key)
  if (key === undefined) return
  const idBytes = uuidBytes(row.id)
  const user: PasskeyUser = {
    id: row.id,
    idBytes,
    owner: idBytes.subarray(8),
    state: row.state,
    role: row.role,
    canDownload: row.can_download,
    apiBlocked: row.api_blocked,
    opensTorznab,
    endsAt,
    announceLimit: row.announce_limit,
    uploadPercent: row.upload_percent,
    downloadPercent: row.download_percent,
  }
  users.set(key, row.suspended_until === null ? user : endingByItself(user, row, clock))
}

/** A suspended user whose state is read at each use, so that cached users are active once the suspension has ended. */
function endingByItself(
  user: PasskeyUser,
  row: Pick<Selectable<UsersTable>, 'state' | 'suspended_until'>,
  clock: Clock,
): PasskeyUser {
  return {
    ...user,
    get state() {
      return stateAt(row, clock.now())
    },
  }
}

type TorrentRow = Pick<
  Selectable<TorrentsTable>,
  | 'id'
  | 'info_hash'
  | 'info_hash_v2'
  | 'state'
  | 'state_reason'
  | 'deleted_at'
  | 'delete_reason'
  | 'upload_percent'
  | 'download_percent'
> & { readonly [Count in 'completed' | 'seeders' | 'leechers']: number | null }

const COLUMNS = sql.raw(
  'id, info_hash, info_hash_v2, state, state_reason, deleted_at, delete_reason, upload_percent, download_percent',
)

/**
 * Selects torrents by either hash, with one branch per partial index because no plan uses them all for one condition.
 * The last row of a hash wins: the one that is not deleted, or else the one deleted last.
 */
function selectTorrents(hashes: readonly Buffer[]): RawBuilder<TorrentRow> {
  return sql<TorrentRow>`
    with found as (
      select ${COLUMNS} from torrents where info_hash = any(${hashes}) and deleted_at is null
      union
      select ${COLUMNS} from torrents where info_hash_v2 = any(${hashes}) and deleted_at is null
      union
      select ${COLUMNS} from torrents where info_hash = any(${hashes}) and deleted_at > now() - interval '30 days'
      union
      select ${COLUMNS} from torrents where info_hash_v2 = any(${hashes}) and deleted_at > now() - interval '30 days'
    )
    select ${COLUMNS}, completed, seeders, leechers
    from found left join torrent_stats on torrent_id = id
    order by deleted_at nulls last`
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}
