import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL, MAX_OFFSET, type Total, totalOf } from '../pagination.ts'
import type { TorrentState } from '../search/listed-torrent.ts'
import { OutOfTime } from '../search/search-queue.ts'
import type {
  OwnList,
  OwnPage,
  OwnQuery,
  OwnSort,
  OwnTorrent,
  OwnTorrentStore,
  OwnTotals,
  OwnTransfer,
} from './own-torrents.ts'

/** The torrents of members in Postgres, where announces arrive within seconds. @param db cancels long statements */
export function createOwnTorrentStore(db: Db): OwnTorrentStore {
  async function read<Row>(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    try {
      return (await statement.execute(db)).rows
    } catch (error) {
      throw errorCode(error) === CANCELED ? new OutOfTime('', { cause: error }) : error
    }
  }

  return {
    list: async (query, page) => {
      // One after the other, because a member has one connection at a time.
      const rows = await read(itemsOf(query, page))
      const [found] = await read(countOf(query))
      const { page: number, limit } = page
      return { items: rows.map(toOwnTorrent), page: number, limit, ...totalOf(found?.counted ?? 0) }
    },

    totals: async (query) => {
      const [sums] = await read(sumsOf(query))
      const { counted = 0, size = 0, uploaded = 0, downloaded = 0, abandoned = 0 } = sums ?? {}
      return { ...totalOf(counted), size, uploaded, downloaded, abandoned }
    },
  }
}

/** Reads what a user transferred of one torrent; null if they have never announced it. */
export function createOwnTransfers(db: Db) {
  return async (userId: string, torrentId: string, activeSince: Date): Promise<OwnTransfer | null> => {
    const { rows } = await sql<TransferRow>`
      select ${TRANSFER}, ${isSeeding({ activeSince })} as is_seeding from user_torrents
      where user_id = ${userId} and torrent_id = ${torrentId}`.execute(db)
    return rows[0] === undefined ? null : toTransfer(rows[0])
  }
}

/** The SQLSTATE of statements that took too long. */
const CANCELED = '57014'

const TRANSFER = sql`uploaded_actual, downloaded_actual, seed_seconds, bytes_left, last_state, last_seen_at, completed_at`

/** The index has the peers that have not stopped. */
const activeAs =
  (state: 'seeder' | 'leecher') =>
  ({ userId, activeSince }: OwnQuery): RawBuilder<unknown> =>
    sql`select torrent_id, ${TRANSFER} from user_torrents
      where user_id = ${userId} and last_state <> 'stopped' and last_state = ${state} and last_seen_at > ${activeSince}`

const snatchedBy = ({ userId }: OwnQuery): RawBuilder<unknown> =>
  sql`select torrent_id, ${TRANSFER} from user_torrents where user_id = ${userId} and completed_at is not null
    order by completed_at desc, torrent_id desc limit ${MAX_OFFSET}`

/** The ids of the torrents of each list, and what the member transferred, except of uploads. */
const LISTS: Readonly<Record<OwnList, (query: OwnQuery) => RawBuilder<unknown>>> = {
  uploads: ({ userId }) => sql`
    select id as torrent_id, created_at as uploaded_at from torrents
    where uploader_id = ${userId} and deleted_at is null order by created_at desc, id desc limit ${MAX_OFFSET}`,
  seeding: activeAs('seeder'),
  leeching: activeAs('leecher'),
  snatched: snatchedBy,
  duties: (query) => sql`select snatched.* from (${snatchedBy(query)}) as snatched
    join torrents on torrents.id = torrent_id and deleted_at is null and state <> 'rejected'
    where seed_seconds < ${query.requiredSeconds} and uploaded_actual < downloaded_actual`,
}

/** The same with the transfers of uploads. `offset 0` makes the planner look up each, instead of reading all of them. */
function transfersOf(query: OwnQuery): RawBuilder<unknown> {
  if (query.list !== 'uploads') return LISTS[query.list](query)
  return sql`select upload.*, ${TRANSFER} from (${LISTS.uploads(query)}) as upload left join lateral (
    select ${TRANSFER} from user_torrents where user_id = ${query.userId} and torrent_id = upload.torrent_id offset 0
  ) as own on true`
}

/** The sort keys in a transfer, and those that each torrent is looked up for. */
const KEYS: Readonly<Record<OwnSort, RawBuilder<unknown>>> = {
  uploaded: sql`coalesce(uploaded_actual, 0)`,
  downloaded: sql`coalesce(downloaded_actual, 0)`,
  seedTime: sql`coalesce(seed_seconds, 0)`,
  completed: sql`completed_at`,
  created: sql`(select created_at from torrents where id = transfer.torrent_id)`,
  size: sql`(select size from torrents where id = transfer.torrent_id)`,
  seeders: sql`(select seeders from torrent_stats where torrent_id = transfer.torrent_id)`,
}

function isSeeding({ activeSince }: Pick<OwnQuery, 'activeSince'>): RawBuilder<unknown> {
  return sql`coalesce(last_state = 'seeder' and last_seen_at > ${activeSince}, false)`
}

/** Sorts before it looks up the torrents of the page. */
function itemsOf(query: OwnQuery, { page, limit, sort, order }: OwnPage): RawBuilder<Row> {
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  // In this order, uploads come from their index.
  const key = query.list === 'uploads' && sort === 'created' ? sql`uploaded_at` : KEYS[sort]
  const sorted = sql`${query.list === 'duties' ? sql`is_seeding, ` : sql``}key ${direction}, torrent_id ${direction}`
  return sql<Row>`
    select * from (
      select transfer.*, ${isSeeding(query)} as is_seeding, ${key} as key from (${transfersOf(query)}) as transfer
      order by ${sorted} limit ${limit} offset ${(page - 1) * limit}
    ) as transfer cross join lateral (
      select id, case when is_visible then name else encode(info_hash, 'hex') end as name, size, state,
        coalesce(delete_reason, case when is_visible then state_reason end) as reason, deleted_at is not null as is_deleted,
        download_percent, upload_percent, created_at, seeders, leechers, completed
      from torrents join torrent_stats on torrent_stats.torrent_id = torrents.id
        cross join lateral (select state = 'approved' or uploader_id is not distinct from ${query.userId} as is_visible) as own
      where torrents.id = transfer.torrent_id offset 0
    ) as torrent
    order by ${sorted}`
}

function countOf(query: OwnQuery): RawBuilder<{ readonly counted: number }> {
  return sql`select count(*) as counted from (
    select from (${LISTS[query.list](query)}) as listed limit ${MAX_EXACT_TOTAL + 1}
  ) as found`
}

/** A sum of bytes. Beyond the largest exact number of JSON, it is that number. */
function bytesOf(column: string): RawBuilder<number> {
  return sql`least(sum(${sql.ref(column)}), ${Number.MAX_SAFE_INTEGER})::bigint`
}

type Sums = Omit<OwnTotals, keyof Total> & { readonly counted: number }

function sumsOf(query: OwnQuery): RawBuilder<Sums> {
  return sql`
    select count(*) as counted, ${bytesOf('size')} as size, ${bytesOf('uploaded_actual')} as uploaded,
      ${bytesOf('downloaded_actual')} as downloaded, count(*) filter (where is_abandoned) as abandoned
    from (
      select size, coalesce(uploaded_actual, 0) as uploaded_actual, coalesce(downloaded_actual, 0) as downloaded_actual,
        last_seen_at < ${query.abandonedBefore} as is_abandoned
      from (${transfersOf(query)}) as transfer cross join lateral (
        select size from torrents where id = transfer.torrent_id offset 0
      ) as torrent limit ${MAX_EXACT_TOTAL + 1}
    ) as found having count(*) > 0`
}

type Row = TransferRow & {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly state: TorrentState
  readonly reason: string | null
  readonly is_deleted: boolean
  readonly download_percent: number
  readonly upload_percent: number
  readonly created_at: Date
  readonly seeders: number
  readonly leechers: number
  readonly completed: number
}

type TransferRow = {
  readonly uploaded_actual: number | null
  readonly downloaded_actual: number | null
  readonly seed_seconds: number | null
  readonly bytes_left: number | null
  readonly last_seen_at: Date | null
  readonly completed_at: Date | null
  readonly is_seeding: boolean
}

function toOwnTorrent(row: Row): OwnTorrent {
  return {
    id: row.id,
    name: row.name,
    size: row.size,
    state: row.is_deleted ? 'deleted' : row.state,
    reason: row.reason,
    downloadPercent: row.download_percent,
    uploadPercent: row.upload_percent,
    created: row.created_at,
    seeders: row.seeders,
    leechers: row.leechers,
    snatches: row.completed,
    transfer: toTransfer(row),
  }
}

function toTransfer(row: TransferRow): OwnTransfer | null {
  return (
    row.last_seen_at && {
      uploaded: row.uploaded_actual ?? 0,
      downloaded: row.downloaded_actual ?? 0,
      seedSeconds: row.seed_seconds ?? 0,
      bytesLeft: row.bytes_left,
      isSeeding: row.is_seeding,
      lastSeen: row.last_seen_at,
      completed: row.completed_at,
    }
  )
}
