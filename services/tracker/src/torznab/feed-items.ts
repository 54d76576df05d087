import { type FeedItem, familyOfId, type ItemAttributes, itemCategories } from '@vault-and-tracker/torznab-xml'
import { bestOf, type Rates } from '../announce/lookups.ts'
import type { CatalogueState } from '../search/catalogue-state.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import { TAGS, type Tag } from './search-query.ts'

/** The Torznab ID of torrents without a category. */
const OTHER = 8000

/** Torznab IDs whose items have an author of their own. */
const AUDIOBOOKS = 3030
const BOOKS = 7000

const languageNames = new Intl.DisplayNames('en', { type: 'language' })

/** The values that items need in addition to their torrents. */
type ItemContext = Pick<CatalogueState, 'categories' | 'rates' | 'requiredSeedSeconds'> & {
  readonly caller: Rates
  /** Without a slash at its end. */
  readonly publicUrl: string
  /** The absolute URL of a .torrent file, with the caller's key. */
  readonly downloadUrl: (torrent: ListedTorrent) => string
}

/** Torrents as the items of a caller's feed. */
export function feedItems(torrents: readonly ListedTorrent[], context: ItemContext): readonly FeedItem[] {
  const { caller, categories, rates, requiredSeedSeconds, publicUrl, downloadUrl } = context
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
    const ids = idsOf(torrent.category)
    const hasAuthor = ids.some((id) => id === AUDIOBOOKS || familyOfId(id) === BOOKS)
    const uploader = torrent.anonymous ? undefined : torrent.uploader?.username
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
      categories: ids,
      seeders: torrent.seeders,
      leechers: torrent.leechers,
      infoHash: torrent.infoHash,
      rates: { download: best.downloadPercent / 100, upload: best.uploadPercent / 100 },
      attributes: {
        ...attributesOf(torrent),
        poster: uploader,
        author: hasAuthor ? undefined : uploader,
        tags: tagsOf(torrent, best),
        // Seeding to a ratio of 1 is enough too; see the duties in `own-torrents`.
        ...(requiredSeedSeconds > 0 ? { minimumSeedSeconds: requiredSeedSeconds, minimumRatio: 1 } : {}),
      },
    }
  })
}

function tagsOf({ internal, scene }: ListedTorrent, { downloadPercent }: Rates): readonly string[] {
  const has: Readonly<Record<Tag, boolean>> = { freeleech: downloadPercent === 0, internal, scene }
  return TAGS.filter((tag) => has[tag])
}

/** The attributes from the ids and the release name of a torrent. */
function attributesOf({ externalIds, release }: ListedTorrent): ItemAttributes {
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
    resolution: release.resolution ?? undefined,
    videoCodec: release.codec ?? undefined,
    audio: textOf([...release.audio, ...(release.channels === null ? [] : [release.channels])]),
    hdr: textOf(release.hdr),
    languages: languagesOf(release.languages),
    showTitle: isSeries ? (release.title ?? undefined) : undefined,
  }
}

function textOf(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : words.join(' ')
}

/** Nothing for an unknown number of languages, because tools take the attribute as the complete list. */
function languagesOf(codes: readonly string[]): readonly string[] {
  return codes.includes('mul') ? [] : codes.map((code) => languageNames.of(code) ?? code)
}

/** The number of a range that has only one; undefined for a pack of several. */
function singleOf(from: number | null, to: number | null): number | undefined {
  return from === to ? (from ?? undefined) : undefined
}
