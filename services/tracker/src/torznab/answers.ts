import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { type ApiLimits, type SearchQuery, torznabError } from '@vault-and-tracker/torznab-xml'
import { bestOf } from '../announce/directory.ts'
import type { Found, Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { TorznabCaller } from './callers.ts'
import { capsOf, type IndexerInfo } from './capabilities.ts'
import type { CatalogueState } from './catalogue-state.ts'
import { feedItems } from './feed-items.ts'
import { type Outcome, refusal } from './outcome.ts'
import { toSearchQuery } from './search-query.ts'

/** A caller whose request was authorized, and what they did in the window. */
export type AuthorizedCaller = { readonly caller: TorznabCaller; readonly limits: ApiLimits }

export type Answers = ReturnType<typeof createAnswers>

/** What requests that are authorized are answered with. Fails as the stores do. */
export function createAnswers(deps: {
  indexer: IndexerInfo
  catalogueState: () => Promise<CatalogueState>
  search: Pick<Search, 'find' | 'byInfoHash'>
  torrents: Pick<Torrents, 'download'>
  clock: Clock
}) {
  const { indexer, catalogueState, search, torrents, clock } = deps
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
      return { kind: 'caps', caps: capsOf(indexer, (await catalogueState()).categories) }
    },

    /** A page of what is found, newest first. */
    async search(query: SearchQuery, authorized: AuthorizedCaller): Promise<Outcome> {
      const state = await catalogueState()
      const isAllFree = bestOf([authorized.caller, state.multipliers]).downloadPercent === 0
      const wanted = toSearchQuery(query, { categories: state.categories, isAllFree, now: clock.now() })
      const found = wanted === undefined ? { items: [], total: 0 } : await search.find(wanted, authorized.caller.id)
      return feed(query.function, authorized, state, { ...found, offset: query.offset })
    },

    /** One torrent. */
    async details(infoHash: string, authorized: AuthorizedCaller): Promise<Outcome> {
      const [state, torrent] = await Promise.all([catalogueState(), search.byInfoHash(infoHash)])
      if (torrent === undefined) return refusal({ error: torznabError('noSuchItem') })
      return feed('details', authorized, state, { items: [torrent], total: 1, offset: 0 })
    },

    /** The .torrent file of a torrent, with the caller's passkey in it. */
    async file(infoHash: string, { caller }: AuthorizedCaller): Promise<Outcome> {
      const torrent = await search.byInfoHash(infoHash)
      if (torrent === undefined) return refusal({ error: torznabError('noSuchItem') })
      try {
        return { kind: 'file', ...(await torrents.download(torrent.id, caller)) }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return refusal({ error: torznabError(error.code === 'FORBIDDEN' ? 'notAuthorized' : 'noSuchItem') })
      }
    },
  }
}
