import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { ApiError } from '@vault-and-tracker/service-kit/errors'
import { type ApiLimits, type SearchQuery, torznabError } from '@vault-and-tracker/torznab-xml'
import { bestOf } from '../announce/multipliers.ts'
import type { Found, Search } from '../search/search.ts'
import type { Torrents } from '../torrents/torrents.ts'
import type { TorznabCaller } from './callers.ts'
import { capsOf, type Site } from './capabilities.ts'
import { feedItems } from './feed-items.ts'
import { type Outcome, refusal } from './outcome.ts'
import { toSearchQuery } from './search-query.ts'
import type { SiteState } from './site-state.ts'

/** A caller whose request was admitted, and what they did in the window. */
export type Admitted = { readonly caller: TorznabCaller; readonly limits: ApiLimits }

export type Answers = ReturnType<typeof createAnswers>

/** What requests that are admitted are answered with. Fails as the stores do. */
export function createAnswers(deps: {
  site: Site
  siteState: () => Promise<SiteState>
  search: Pick<Search, 'find' | 'byInfoHash'>
  torrents: Pick<Torrents, 'download'>
  clock: Clock
}) {
  const { site, siteState, search, torrents, clock } = deps
  const { publicUrl, title } = site

  function feed(
    name: string,
    { caller, limits }: Admitted,
    state: SiteState,
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
      return { kind: 'caps', caps: capsOf(site, (await siteState()).categories) }
    },

    /** A page of what is found, newest first. */
    async search(query: SearchQuery, admitted: Admitted): Promise<Outcome> {
      const state = await siteState()
      const isAllFree = bestOf([admitted.caller, state.multipliers]).downloadPercent === 0
      const wanted = toSearchQuery(query, { categories: state.categories, isAllFree, now: clock.now() })
      const found = wanted === undefined ? { items: [], total: 0 } : await search.find(wanted)
      return feed(query.function, admitted, state, { ...found, offset: query.offset })
    },

    /** One torrent. */
    async details(infoHash: string, admitted: Admitted): Promise<Outcome> {
      const [state, torrent] = await Promise.all([siteState(), search.byInfoHash(infoHash)])
      if (torrent === undefined) return refusal({ error: torznabError('noSuchItem') })
      return feed('details', admitted, state, { items: [torrent], total: 1, offset: 0 })
    },

    /** The .torrent file of a torrent, with the caller's passkey in it. */
    async file(infoHash: string, { caller }: Admitted): Promise<Outcome> {
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
