import type { Account } from '../accounts/accounts.ts'
import { ratioOf } from '../accounts/activity.ts'
import { bestOf, type Rates } from '../announce/lookups.ts'
import type { OwnTransfer } from '../own-torrents/own-torrents.ts'
import { type Media, parseMediaInfo } from '../releases/media-info.ts'
import type { CatalogueCache } from '../search/catalogue-state.ts'
import type { RelatedTorrent, Torrents, TorrentTexts } from './torrents.ts'

/** What a download costs a member. */
type Cost = Rates & {
  /** Bytes that count as downloaded. */
  readonly counted: number
  /** Uploaded divided by downloaded; null if nothing was downloaded. */
  readonly ratio: number | null
  readonly ratioAfter: number | null
  /** Required seeding time after the download, unless the ratio of the torrent reaches 1. */
  readonly seedSeconds: number
}

/** What the page of a torrent shows and no list needs. */
type Details = TorrentTexts & {
  /** The tracks in `mediaInfo`; null if it has none. */
  readonly media: Media | null
  readonly related: readonly RelatedTorrent[]
  readonly cost: Cost
  readonly transfer: OwnTransfer | null
}

export type TorrentDetails = ReturnType<typeof createTorrentDetails>

/** Describes one torrent in full. */
export function createTorrentDetails(deps: {
  torrents: Pick<Torrents, 'findVisible' | 'related' | 'texts'>
  catalogue: CatalogueCache
  /** What a user transferred of a torrent. */
  transferOf: (userId: string, torrentId: string) => Promise<OwnTransfer | null>
}) {
  const { torrents } = deps
  return {
    /** @throws ApiError NOT_FOUND */
    async read(id: string, viewer: Account): Promise<Details> {
      const torrent = await torrents.findVisible(id, viewer)
      const [related, texts, site, transfer] = await Promise.all([
        torrents.related(torrent, viewer),
        torrent.hasNfo || torrent.hasMediaInfo ? torrents.texts(id) : undefined,
        deps.catalogue.current(),
        deps.transferOf(viewer.id, torrent.id),
      ])
      const rates = bestOf([torrent, viewer, site.rates])
      const counted = Math.floor((torrent.size * rates.downloadPercent) / 100)
      const { uploaded, downloaded } = viewer
      const { nfo = null, mediaInfo = null } = texts ?? {}
      return {
        ...{ nfo, mediaInfo, related, transfer },
        media: (mediaInfo !== null && parseMediaInfo(mediaInfo)) || null,
        cost: {
          ...{ ...rates, counted },
          ratio: ratioOf(uploaded, downloaded),
          ratioAfter: ratioOf(uploaded, downloaded + counted),
          seedSeconds: site.requiredSeedSeconds,
        },
      }
    },
  }
}
