import { type FeedItem, type ItemAttributes, itemCategories } from '@vault-and-tracker/torznab-xml'
import { bestOf, type Rates } from '../announce/lookups.ts'
import type { Category } from '../categories/categories.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import { FREELEECH } from './search-query.ts'

/** The Torznab ID of torrents without a category. */
const OTHER = 8000

export const INTERNAL = 'internal'
export const SCENE = 'scene'

/** The values that items need in addition to their torrents. */
type ItemContext = {
  readonly caller: Rates
  readonly categories: readonly Category[]
  readonly rates: Rates
  /** Without a slash at its end. */
  readonly publicUrl: string
  /** The absolute URL of a .torrent file, with the caller's key. */
  readonly downloadUrl: (torrent: ListedTorrent) => string
}

/** Torrents as the items of a caller's feed. */
export function feedItems(torrents: readonly ListedTorrent[], context: ItemContext): readonly FeedItem[] {
  const { caller, categories, rates, publicUrl, downloadUrl } = context
  const idsOfSlugs = new Map<string, readonly number[]>()
  const idsOf = (slug: string): readonly number[] => {
    const known = idsOfSlugs.get(slug)
    if (known !== undefined) return known
    const category = categories.find((each) => each.slug === slug)
    // A category may be renamed during a search, and tools drop items without a category.
    const ids = category === undefined ? [OTHER] : itemCategories(category.id, categories)
    idsOfSlugs.set(slug, ids)
    return ids
  }

  return torrents.map((torrent) => {
    const detailsUrl = `${publicUrl}/torrents/${torrent.id}`
    const best = bestOf([torrent, caller, rates])
    return {
      title: torrent.name,
      detailsUrl,
      downloadUrl: downloadUrl(torrent),
      commentsUrl: detailsUrl,
      publishedAt: torrent.createdAt,
      size: torrent.size,
      files: torrent.fileCount,
      grabs: torrent.completed,
      description: '',
      categories: idsOf(torrent.category),
      seeders: torrent.seeders,
      leechers: torrent.leechers,
      infoHash: torrent.infoHash,
      rates: { download: best.downloadPercent / 100, upload: best.uploadPercent / 100 },
      attributes: { ...attributesOf(torrent), tags: tagsOf(torrent, best) },
    }
  })
}

function tagsOf({ internal, scene }: ListedTorrent, { downloadPercent }: Rates): readonly string[] {
  return [...(downloadPercent === 0 ? [FREELEECH] : []), ...(internal ? [INTERNAL] : []), ...(scene ? [SCENE] : [])]
}

/** The attributes of a torrent, except those that every item has. */
function attributesOf({ externalIds, release, uploader, anonymous }: ListedTorrent): ItemAttributes {
  const { imdb, tmdb, tvdb } = externalIds
  const isSeries = release.seasonFrom !== null || release.airDate !== null
  return {
    imdb: imdb ?? undefined,
    tmdb: tmdb ?? undefined,
    tvdb: tvdb ?? undefined,
    season: singleOf(release.seasonFrom, release.seasonTo),
    episode: singleOf(release.episodeFrom, release.episodeTo),
    airDate: release.airDate === null ? undefined : new Date(`${release.airDate}T00:00:00Z`),
    year: release.year ?? undefined,
    team: release.group ?? undefined,
    poster: anonymous ? undefined : uploader?.username,
    resolution: release.resolution ?? undefined,
    videoCodec: release.codec ?? undefined,
    showTitle: isSeries ? (release.title ?? undefined) : undefined,
  }
}

/** The number of a range that has only one; undefined for a pack of several. */
function singleOf(from: number | null, to: number | null): number | undefined {
  return from === to ? (from ?? undefined) : undefined
}
