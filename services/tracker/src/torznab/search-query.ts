import {
  coveredCategories,
  type SiteCategory,
  type Supported,
  type TagFilter,
  type SearchQuery as TorznabSearch,
} from '@vault-and-tracker/torznab-xml'
import { type Marks, tmdbCategoryIds } from '../search/criteria.ts'
import type { SearchQuery } from '../search/queries.ts'

/** The parameters that each Torznab function supports, for `t=caps` and the query parser. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year', 'tag'],
  book: ['q', 'author', 'title', 'year', 'tag'],
}

/** Tags of torrents. Downloads of freeleech ones are not counted for the caller. autobrr knows them by these names. */
export const TAGS = ['freeleech', 'internal', 'scene'] as const
export type Tag = (typeof TAGS)[number]

/** Items on a page. */
export const PAGE_LIMITS = { default: 25, max: 100 } as const

const DAY_MS = 86_400_000

/** The values that a search needs in addition to its query. */
export type SearchContext = {
  readonly categories: readonly SiteCategory[]
  /** Whether no download of the caller is counted. */
  readonly isAllFree: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/**
 * A Torznab search as a search of the catalogue; undefined if its feed is always empty: it has an unsupported parameter
 * (Torznab 1.1, "Service Changes"), only unknown categories, or tags that no torrent has.
 */
export function toSearchQuery(
  search: TorznabSearch,
  { categories, isAllFree, now }: SearchContext,
): SearchQuery | undefined {
  if (search.unsupported.length > 0) return undefined
  const categoryIds = search.categories && coveredCategories(search.categories, categories).map(({ id }) => id)
  const marks = marksWanted(search.tags, isAllFree)
  if (categoryIds?.length === 0 || marks === undefined) return undefined
  const { imdbid, tmdbid, tvdbid } = search.ids
  return {
    text: search.q,
    words: Object.values(search.text),
    categoryIds,
    ids: {
      ...{ imdb: imdbid, tmdb: tmdbid, tvdb: tvdbid },
      tmdbCategoryIds:
        tmdbid === undefined ? undefined : tmdbCategoryIds(search.function === 'tvsearch' ? 'tv' : 'movie', categories),
    },
    wanted: search.episode,
    year: search.year,
    ...marks,
    minSize: search.minSize,
    maxSize: search.maxSize,
    createdAfter: search.maxAgeDays === undefined ? undefined : daysBefore(now, search.maxAgeDays),
    offset: search.offset,
    limit: search.limit,
  }
}

/** The marks of torrents with all wanted tags and none of the unwanted ones; undefined if no torrent can have them. */
function marksWanted({ include, exclude }: TagFilter = NO_TAGS, isAllFree: boolean): Marks | undefined {
  if (include.some((tag) => !TAGS.some((known) => known === tag) || exclude.includes(tag))) return undefined
  const wanted = (tag: Tag): boolean | undefined => include.includes(tag) || (exclude.includes(tag) ? false : undefined)
  const [freeleech, internal, scene] = [wanted('freeleech'), wanted('internal'), wanted('scene')]
  if (!isAllFree) return { freeleech, internal, scene }
  return freeleech === false ? undefined : { internal, scene }
}

const NO_TAGS: TagFilter = { include: [], exclude: [] }

/** A number of days before a time, but not before 1970, because the range of `Date` is bounded. */
function daysBefore(now: number, days: number): Date {
  return new Date(Math.max(0, now - days * DAY_MS))
}
