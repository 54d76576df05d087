import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { type Caps, type Feed, type SearchQuery, torznabError } from '@vault-and-tracker/torznab-xml'
import { bestOf } from '../announce/directory.ts'
import type { Found, Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { AuthorizedCaller, Refusal } from './authorization.ts'
import { capsOf, type IndexerInfo } from './capabilities.ts'
import type { CatalogueState, CatalogueStates } from './catalogue-state.ts'
import { feedItems } from './feed-items.ts'
import { toSearchQuery } from './search-query.ts'

/** The answer to a request. */
export type Outcome =
  | { readonly kind: 'caps'; readonly caps: Caps }
  | { readonly kind: 'feed'; readonly feed: Feed }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Buffer }
  | ({ readonly kind: 'refusal' } & Refusal)

export type Answers = ReturnType<typeof createAnswers>

/** Answers authorized requests. Fails as the stores do. */
export function createAnswers(deps: {
  indexer: IndexerInfo
  catalogue: CatalogueStates
  search: Pick<Search, 'find' | 'byInfoHash'>
  torrents: Pick<Torrents, 'download'>
  clock: Clock
}) {
  const { indexer, catalogue, search, torrents, clock } = deps
  const { publicUrl, title } = indexer

  function feed(
    name: string,
    { caller, limits }: AuthorizedCaller,
    state: CatalogueState,
    { items, total, offset }: Pick<Found, 'items' | 'total'> & { readonly offset: number },
  ): Outcome {
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
      return { kind: 'caps', caps: capsOf(indexer, (await catalogue.current()).categories) }
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
