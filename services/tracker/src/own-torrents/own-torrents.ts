import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Listed, Page, Total } from '../pagination.ts'
import { TORRENT_STATES } from '../search/listed-torrent.ts'
import type { SearchQueue } from '../search/search-queue.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'

/** The lists of a member's torrents. `duties` are torrents that they still have to seed. */
export const OWN_LISTS = ['uploads', 'seeding', 'leeching', 'snatched', 'duties'] as const
export type OwnList = (typeof OWN_LISTS)[number]

/** Deleted torrents stay in the lists of their peers for 30 days. */
export const OWN_STATES = [...TORRENT_STATES, 'deleted'] as const
export type OwnTorrentState = (typeof OWN_STATES)[number]

/** What lists of torrents can be sorted by. */
export const OWN_SORTS = ['uploaded', 'downloaded', 'seedTime', 'completed', 'created', 'size', 'seeders'] as const
export type OwnSort = (typeof OWN_SORTS)[number]

/** What a member transferred of a torrent. Bytes are without rates. */
export type OwnTransfer = {
  readonly uploaded: number
  readonly downloaded: number
  readonly seedSeconds: number
  readonly bytesLeft: number | null
  readonly isSeeding: boolean
  readonly lastSeen: Date
  readonly completed: Date | null
}

export type OwnTorrent = {
  readonly id: string
  /** The info hash if the torrent is of another member and not approved. */
  readonly name: string
  readonly size: number
  readonly state: OwnTorrentState
  /** The moderator's reason, for the uploader, or why it was deleted. */
  readonly reason: string | null
  readonly downloadPercent: number
  readonly uploadPercent: number
  readonly created: Date
  readonly seeders: number
  readonly leechers: number
  readonly snatches: number
  /** Null if the member has never announced it. */
  readonly transfer: OwnTransfer | null
}

/** Sums over all pages of a list, up to `MAX_EXACT_TOTAL` torrents. Bytes are without rates. */
export type OwnTotals = Total & {
  readonly size: number
  readonly uploaded: number
  readonly downloaded: number
  /** How many of them the member has not announced for a day. */
  readonly abandoned: number
}

export type OwnQuery = {
  readonly userId: string
  readonly list: OwnList
  /** Peers whose last announce is older are not active. */
  readonly activeSince: Date
  /** Torrents that the member last announced before are abandoned. */
  readonly abandonedBefore: Date
  /** The required seed time. */
  readonly requiredSeconds: number
}

export type OwnPage = Page & { readonly sort: OwnSort; readonly order: 'asc' | 'desc' }

/**
 * The torrents of members. Throws OutOfTime if a statement takes too long, and an error that `isUnavailable` recognises if
 * Postgres is unavailable.
 */
export type OwnTorrentStore = {
  /** A list has the newest `MAX_OFFSET` uploads or snatches. Duties that the member is not seeding come first. */
  list(query: OwnQuery, page: OwnPage): Promise<Listed<OwnTorrent>>
  totals(query: OwnQuery): Promise<OwnTotals>
}

/** A client that restarts, or is off overnight, abandons nothing. */
const ABANDONED_AFTER_MS = 24 * 3_600_000

const INITIAL_SORTS = {
  uploads: 'created',
  seeding: 'uploaded',
  leeching: 'downloaded',
  snatched: 'completed',
  duties: 'completed',
} as const satisfies Record<OwnList, OwnSort>

export type OwnTorrents = ReturnType<typeof createOwnTorrents>

/**
 * The torrents that a member uploaded, transfers or snatched.
 *
 * Reads take turns with searches, so that members with many torrents delay no one else.
 *
 * @param deps peers whose last announce is older than `peerTtlMs` are not active
 */
export function createOwnTorrents(deps: {
  store: OwnTorrentStore
  clock: Clock
  peerTtlMs: number
  site: Pick<SiteConfiguration, 'requiredSeedSeconds'>
  queue: Pick<SearchQueue, 'admit' | 'run'>
}) {
  const inTurn = <T>(userId: string, read: () => Promise<T>): Promise<T> =>
    deps.queue.admit(userId, () => deps.queue.run(userId, read))
  const queryOf = async (userId: string, list: OwnList): Promise<OwnQuery> => {
    const now = deps.clock.now()
    return {
      ...{ userId, list, requiredSeconds: await deps.site.requiredSeedSeconds() },
      ...{ activeSince: new Date(now - deps.peerTtlMs), abandonedBefore: new Date(now - ABANDONED_AFTER_MS) },
    }
  }

  return {
    async list(
      userId: string,
      {
        list,
        sort = INITIAL_SORTS[list],
        ...page
      }: Omit<OwnPage, 'sort'> & { list: OwnList; sort?: OwnSort | undefined },
    ) {
      const query = await queryOf(userId, list)
      return inTurn(userId, () => deps.store.list(query, { ...page, sort }))
    },

    async totals(userId: string, list: OwnList) {
      const query = await queryOf(userId, list)
      const totals = await inTurn(userId, () => deps.store.totals(query))
      const { total, totalIsExact, size, uploaded, downloaded } = totals
      return { requiredSeconds: query.requiredSeconds, total, totalIsExact, size, uploaded, downloaded }
    },

    /** The number of torrents that a member still has to seed, and has not announced for a day. */
    async hitAndRuns(userId: string): Promise<number> {
      const query = await queryOf(userId, 'duties')
      return (await inTurn(userId, () => deps.store.totals(query))).abandoned
    },
  }
}
