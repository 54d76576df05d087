import type { Passkey } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import {
  type ApiLimits,
  type Caps,
  capsCategories,
  type Definition,
  type Feed,
  type SearchQuery,
  type TorznabError,
  torznabError,
} from '@vault-and-tracker/torznab-xml'
import { bestOf, type PasskeyUser } from '../announce/lookups.ts'
import type { Category } from '../categories/categories.ts'
import type { CatalogueCache, CatalogueState } from '../search/catalogue-state.ts'
import type { Found } from '../search/queries.ts'
import type { Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import { feedItems } from './feed-items.ts'
import { PAGE_LIMITS, SUPPORTED_PARAMETERS, TAGS, type Tag, toSearchQuery } from './search-query.ts'
import type { TorznabSettings } from './settings.ts'

/** The indexer as it appears in documents. */
export type IndexerInfo = {
  readonly title: string
  readonly registration: Caps['registration']
}

/** A user with the key of their request: the passkey, or an API token with its id. */
export type TorznabCaller = PasskeyUser & {
  readonly passkey: Passkey
  readonly apiKey: string
  readonly tokenId: string | undefined
}

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
  | { readonly kind: 'definition'; readonly definition: Definition }
  | { readonly kind: 'feed'; readonly feed: Feed }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Buffer }
  | ({ readonly kind: 'refusal' } & Refusal)

export type Answers = ReturnType<typeof createAnswers>

/** Answers authorized requests. Errors of the stores are passed on. */
export function createAnswers(deps: {
  /** Without a slash at the end. */
  publicUrl: string
  indexer: () => Promise<IndexerInfo>
  catalogue: CatalogueCache
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
        items: feedItems(items, {
          ...{ caller, publicUrl, ...state },
          downloadUrl: ({ infoHash }) => `${publicUrl}/api/torznab/download?id=${infoHash}&apikey=${caller.apiKey}`,
        }),
      },
    }
  }

  return {
    async caps(): Promise<Outcome> {
      const [info, { categories }] = await Promise.all([indexer(), catalogue.current()])
      return { kind: 'caps', caps: capsOf(publicUrl, info, categories) }
    },

    /** What Prowlarr and Jackett need to read this indexer. The delay keeps searches and downloads within their limits. */
    async definition({ windowSeconds, searchLimit, downloadLimit }: TorznabSettings): Promise<Outcome> {
      const [info, { categories }] = await Promise.all([indexer(), catalogue.current()])
      return {
        kind: 'definition',
        definition: {
          ...info,
          siteUrl: `${publicUrl}/`,
          keyUrl: `${publicUrl}/me?tab=keys`,
          supported: SUPPORTED_PARAMETERS,
          categories: capsCategories(categories),
          requestDelaySeconds: Math.ceil((windowSeconds / Math.min(searchLimit, downloadLimit)) * 10) / 10,
        },
      }
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

    /** The .torrent file of a torrent, with the passkey of the caller or the announce key of their token. */
    async file(infoHash: string, { caller }: AuthorizedCaller): Promise<Outcome> {
      const torrent = await search.byInfoHash(infoHash)
      if (torrent === undefined) return { kind: 'refusal', error: torznabError('noSuchItem') }
      try {
        return { kind: 'file', ...(await torrents.download(torrent.id, caller, caller.tokenId)) }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { kind: 'refusal', error: torznabError(error.code === 'FORBIDDEN' ? 'notAuthorized' : 'noSuchItem') }
      }
    },
  }
}

const TAG_DESCRIPTIONS: Readonly<Record<Tag, string>> = {
  freeleech: 'Downloads are not counted',
  internal: 'Released by staff of the site',
  scene: 'Scene releases',
}

/** The answer to `t=caps`. */
function capsOf(publicUrl: string, indexer: IndexerInfo, categories: readonly Category[]): Caps {
  return {
    server: { title: indexer.title, url: `${publicUrl}/` },
    limits: PAGE_LIMITS,
    registration: indexer.registration,
    supported: SUPPORTED_PARAMETERS,
    categories: capsCategories(categories),
    tags: TAGS.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
  }
}
