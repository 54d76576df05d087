import type { Passkey } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import {
  type ApiLimits,
  type Caps,
  capsCategories,
  type Feed,
  type FeedItem,
  type ItemAttributes,
  itemCategories,
  type SearchQuery,
  type TorznabError,
  torznabError,
} from '@vault-and-tracker/torznab-xml'
import { bestOf, type PasskeyUser, type Rates } from '../announce/lookups.ts'
import type { Category } from '../categories/categories.ts'
import type { ListedTorrent } from '../search/listed-torrent.ts'
import type { Found, Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { CatalogueState, CatalogueStates } from './catalogue-state.ts'
import { FREELEECH, PAGE_LIMITS, SUPPORTED_PARAMETERS, toSearchQuery } from './search-query.ts'

/** The indexer as it appears in documents. */
export type IndexerInfo = {
  readonly title: string
  readonly registration: Caps['registration']
}

export type TorznabCaller = PasskeyUser & { readonly passkey: Passkey }

/** A user whose request was counted and may be answered, and their usage in the window. */
export type AuthorizedCaller = { readonly caller: TorznabCaller; readonly limits: ApiLimits }

/** The refusal of a request. */
export type Refusal = {
  readonly error: TorznabError
  /** Present if a limit or a block refused the request. */
  readonly by?: 'limit' | 'block'
  readonly retryAfterSeconds?: number
}

/** The answer to a request. */
export type Outcome =
  | { readonly kind: 'caps'; readonly caps: Caps }
  | { readonly kind: 'feed'; readonly feed: Feed }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Buffer }
  | ({ readonly kind: 'refusal' } & Refusal)

/** The Torznab ID of torrents without a category. */
const OTHER = 8000

const INTERNAL = 'internal'
const SCENE = 'scene'

export type Answers = ReturnType<typeof createAnswers>

/** Answers authorized requests. Errors of the stores are passed on. */
export function createAnswers(deps: {
  /** Without a slash at the end. */
  publicUrl: string
  indexer: () => Promise<IndexerInfo>
  catalogue: CatalogueStates
  search: Pick<Search, 'find' | 'byInfoHash'>
  torrents: Pick<Torrents, 'download'>
  clock: Clock
}) {
  const { publicUrl, indexer, catalogue, search, torrents, clock } = deps

  async function feed(
    name: string,
    { caller, limits }: AuthorizedCaller,
    state: CatalogueState,
    { items, total, offset }: Pick<Found, 'items' | 'total'> & { readonly offset: number },
  ): Promise<Outcome> {
    const { title } = await indexer()
    return {
      kind: 'feed',
      feed: {
        title,
        description: `Torrents of ${title}`,
        siteUrl: `${publicUrl}/`,
        selfUrl: `${publicUrl}/api/torznab?t=${name}`,
        ...{ offset, total, limits },
        items: feedItems(items, { caller, publicUrl, ...state }),
      },
    }
  }

  return {
    async caps(): Promise<Outcome> {
      const [info, { categories }] = await Promise.all([indexer(), catalogue.current()])
      return { kind: 'caps', caps: capsOf(publicUrl, info, categories) }
    },

    /** A page of matches, newest first. */
    async search(query: SearchQuery, authorized: AuthorizedCaller): Promise<Outcome> {
      const state = await catalogue.current()
      const isAllFree = bestOf([authorized.caller, state.rates]).downloadPercent === 0
      const wanted = toSearchQuery(query, { categories: state.categories, isAllFree, now: clock.now() })
      const found = wanted === undefined ? { items: [], total: 0 } : await search.find(wanted, authorized.caller.id)
      return feed(query.function, authorized, state, { ...found, offset: query.offset })
    },

    /** One torrent. */
    async details(infoHash: string, authorized: AuthorizedCaller): Promise<Outcome> {
      const [state, torrent] = await Promise.all([catalogue.current(), search.byInfoHash(infoHash)])
      if (torrent === undefined) return { kind: 'refusal', error: torznabError('noSuchItem') }
      return feed('details', authorized, state, { items: [torrent], total: 1, offset: 0 })
    },

    /** The .torrent file of a torrent, with the caller's passkey in it. */
    async file(infoHash: string, { caller }: AuthorizedCaller): Promise<Outcome> {
      const torrent = await search.byInfoHash(infoHash)
      if (torrent === undefined) return { kind: 'refusal', error: torznabError('noSuchItem') }
      try {
        return { kind: 'file', ...(await torrents.download(torrent.id, caller)) }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { kind: 'refusal', error: torznabError(error.code === 'FORBIDDEN' ? 'notAuthorized' : 'noSuchItem') }
      }
    },
  }
}

/** The answer to `t=caps`. */
function capsOf(publicUrl: string, indexer: IndexerInfo, categories: readonly Category[]): Caps {
  return {
    server: { title: indexer.title, url: `${publicUrl}/` },
    limits: PAGE_LIMITS,
    registration: indexer.registration,
    supported: SUPPORTED_PARAMETERS,
    categories: capsCategories(categories),
    tags: [
      { name: FREELEECH, description: 'Downloads are not counted' },
      { name: INTERNAL, description: 'Released by staff of the site' },
      { name: SCENE, description: 'Scene releases' },
    ],
  }
}

/** The values that items need in addition to their torrents. */
type ItemContext = {
  readonly caller: Pick<TorznabCaller, 'passkey' | keyof Rates>
  readonly categories: readonly Category[]
  readonly rates: Rates
  /** Without a slash at its end. */
  readonly publicUrl: string
}

/** Torrents as the items of a caller's feed. */
function feedItems(torrents: readonly ListedTorrent[], context: ItemContext): readonly FeedItem[] {
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
