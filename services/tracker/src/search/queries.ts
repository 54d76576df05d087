import type { NumberRange, WantedEpisode } from '@vault-and-tracker/torznab-xml'
import type { Listed, Page as PageNumber, Total } from '../pagination.ts'
import type { Marks, OwnState, ReleaseField, TmdbId } from './criteria.ts'
import type { Facet, FacetCount } from './facets.ts'
import type { ListedTorrent, TorrentState } from './listed-torrent.ts'

/** A search for approved torrents. Undefined fields are no condition; all others must match. */
export type SearchQuery = Marks & {
  /** Free text, whose words must be in the name in any order. Blank text is no condition. */
  readonly text?: string | undefined
  /** Artists, albums, authors or titles, whose words must also be in the name. */
  readonly words?: readonly string[] | undefined
  /** Ids of categories, including subcategories. An empty list finds nothing. */
  readonly categoryIds?: readonly string[] | undefined
  /** A torrent must have one of these (Torznab 1.1). An empty object is no condition. */
  readonly ids?: WantedIds | undefined
  readonly wanted?: WantedEpisode | undefined
  readonly year?: number | undefined
  /** Bytes, inclusive. */
  readonly minSize?: number | undefined
  readonly maxSize?: number | undefined
  readonly createdAfter?: Date | undefined
  /** From 0. Beyond `MAX_OFFSET` there are no items. */
  readonly offset: number
  /** From 0 to 100. */
  readonly limit: number
}

export type WantedIds = {
  /** The number in `tt0944947`. */
  readonly imdb?: number | undefined
  readonly tmdb?: number | undefined
  /**
   * Ids of the categories in which the TMDB number counts, because TMDB numbers films and series separately; undefined
   * for all.
   */
  readonly tmdbCategoryIds?: readonly string[] | undefined
  readonly tvdb?: number | undefined
}

/** A page of results, newest first. */
export type Found = Total & { readonly items: readonly ListedTorrent[] }

export const SORTS = ['created', 'seeders', 'leechers', 'completed', 'size'] as const
export type Sort = (typeof SORTS)[number]

/** The filters of a list. Undefined ones are no condition; all others must match. Several values are alternatives. */
export type ListFilters = Marks & { readonly [Field in ReleaseField]?: readonly string[] | undefined } & {
  /** Slugs of categories, which include their subcategories. */
  readonly category?: readonly string[] | undefined
  /** Words of the name in any order; the last one can be the beginning of a word. Words after a hyphen are excluded. */
  readonly search?: string | undefined
  readonly year?: NumberRange | undefined
  readonly season?: NumberRange | undefined
  readonly episode?: NumberRange | undefined
  /** Bytes, inclusive. */
  readonly minSize?: number | undefined
  readonly maxSize?: number | undefined
  /** Days. */
  readonly maxAge?: number | undefined
  /** Whether there is a seeder. */
  readonly alive?: boolean | undefined
  /** A username. */
  readonly uploader?: string | undefined
  readonly imdb?: number | undefined
  readonly tmdb?: TmdbId | undefined
  readonly tvdb?: number | undefined
  readonly mine?: OwnState | undefined
}

/** The filters of torrents in a state. */
export type FilterQuery = ListFilters & {
  readonly state: TorrentState
  /** Whether the filter by uploader finds anonymous torrents of other users. */
  readonly seesAnonymous?: boolean | undefined
}

/** The query of a list or of a member's search. */
export type ListQuery = PageNumber &
  FilterQuery & {
    readonly sort: Sort
    readonly order: 'asc' | 'desc'
  }

/** A page of a list. `suggestions` are torrents with similar words, if a search found nothing. */
export type TorrentPage = Listed<ListedTorrent> & { readonly suggestions?: readonly ListedTorrent[] | undefined }

/** The total of a list, and the values that its torrents have, unless there are too many torrents to count. */
export type Faceted = Total & { readonly facets?: Record<Facet, FacetCount[]> | undefined }
