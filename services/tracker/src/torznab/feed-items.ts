import { type FeedItem, type ItemAttributes, itemCategories } from '@vault-and-tracker/torznab-xml'
import { bestOf, type Rates } from '../announce/directory.ts'
import type { Category } from '../categories/categories.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import type { TorznabCaller } from './authorization.ts'
import { FREELEECH } from './capabilities.ts'

/** The Torznab id of torrents without a category. */
const OTHER = 8000

/** The inputs of items, in addition to their torrents. */
export type ItemContext = {
  readonly caller: Pick<TorznabCaller, 'passkey' | keyof Rates>
  readonly categories: readonly Category[]
  readonly rates: Rates
  /** Without a slash at its end. */
  readonly publicUrl: string
}

/** Torrents as the items of a caller's feed. */
export function feedItems(torrents: readonly ListedTorrent[], context: ItemContext): readonly FeedItem[] {
  const { caller, categories, rates, publicUrl } = context
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
      downloadUrl: `${publicUrl}/api/torznab/download?id=${torrent.infoHash}&apikey=${caller.passkey}`,
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
      factors: { download: best.downloadPercent / 100, upload: best.uploadPercent / 100 },
      attributes: { ...attributesOf(torrent), tags: best.downloadPercent === 0 ? [FREELEECH] : [] },
    }
  })
}

/** The attributes of a torrent, except those that every item has. */
function attributesOf({ externalIds, release, uploader }: ListedTorrent): ItemAttributes {
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
    poster: uploader?.username,
    resolution: release.resolution ?? undefined,
    videoCodec: release.codec ?? undefined,
    showTitle: isSeries ? (release.title ?? undefined) : undefined,
  }
}

/** The only number of a range; undefined for a pack of several. */
function singleOf(from: number | null, to: number | null): number | undefined {
  return from === to ? (from ?? undefined) : undefined
}
