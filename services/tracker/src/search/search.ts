import type { WantedEpisode } from '@vault-and-tracker/torznab-xml'
import type { ListedTorrent } from '../torrents/torrents.ts'
import type { Total } from '../torrents/total.ts'

/** A search of approved torrents. What is undefined is not asked for; everything that is there must hold. */
export type SearchQuery = {
  /** Free text: its words must be in the name, in any order. Blank text is no text. */
  readonly text?: string | undefined
  /** Artists, albums, authors, titles: the words of each must be in the name as well. */
  readonly words?: readonly string[] | undefined
  /** Ids of rows of `categories`, subcategories included. An empty list finds nothing. */
  readonly categoryIds?: readonly string[] | undefined
  /** A torrent needs one of these, not all (Torznab 1.1). An empty object is no condition. */
  readonly ids?: WantedIds | undefined
  readonly wanted?: WantedEpisode | undefined
  readonly year?: number | undefined
  /** Bytes, both included. */
  readonly minSize?: number | undefined
  readonly maxSize?: number | undefined
  readonly createdAfter?: Date | undefined
  /** From 0; beyond 10,000 nothing is found, so that nobody reads the catalogue from its end. */
  readonly offset: number
  /** From 0 to 100. */
  readonly limit: number
}

export type WantedIds = {
  /** The number in `tt0944947`. */
  readonly imdb?: number | undefined
  readonly tmdb?: number | undefined
  readonly tvdb?: number | undefined
  /** Lower-case hex of either info hash. */
  readonly infoHash?: string | undefined
}

/** A torrent with the Torznab ids of its category and of that category's root, its own first, each once. */
export type FoundTorrent = ListedTorrent & { readonly torznabIds: readonly number[] }

/** A page of what was found, newest first. */
export type Found = Total & { readonly items: readonly FoundTorrent[] }

/** The store of searches. It sees approved torrents only. */
export type SearchStore = {
  find(query: SearchQuery): Promise<Found>
  /** By either info hash, in lower-case hex. */
  byInfoHash(infoHash: string): Promise<FoundTorrent | undefined>
}

export type Search = ReturnType<typeof createSearch>

/** Finds torrents for the Torznab API. */
export function createSearch(deps: { store: SearchStore }) {
  const { store } = deps
  return {
    /** One page, newest first, and how many there are on all pages. */
    find: (query: SearchQuery): Promise<Found> => store.find(query),

    /** An approved torrent by either info hash, in lower-case hex. */
    byInfoHash: (infoHash: string): Promise<FoundTorrent | undefined> => store.byInfoHash(infoHash),
  }
}
