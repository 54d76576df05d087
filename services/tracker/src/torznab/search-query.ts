import {
  coveredCategories,
  type SiteCategory,
  type Supported,
  type TagFilter,
  type SearchQuery as TorznabSearch,
} from '@vault-and-tracker/torznab-xml'
import type { SearchQuery } from '../search/queries.ts'

/** The parameters that each Torznab function supports, for `t=caps` and the query parser. */
export const SUPPORTED_PARAMETERS: Supported = {
  search: ['q', 'tag'],
  tvsearch: ['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid', 'tag'],
  movie: ['q', 'imdbid', 'tmdbid', 'year', 'tag'],
  music: ['q', 'artist', 'album', 'year', 'tag'],
  book: ['q', 'author', 'title', 'year', 'tag'],
}

/** The tag of torrents whose downloads are not counted for the caller. autobrr knows it by this name. */
export const FREELEECH = 'freeleech'

/** Items on a page. */
export const PAGE_LIMITS = { default: 25, max: 100 } as const

const DAY_MS = 86_400_000
/** Torznab IDs. */
const FILMS = 2000
const SERIES = 5000

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
  const idsCovered = (torznabIds: readonly number[]): readonly string[] =>
    coveredCategories(torznabIds, categories).map(({ id }) => id)
  const categoryIds = search.categories && idsCovered(search.categories)
  const freeleech = freeleechWanted(search.tags, isAllFree)
  if (categoryIds?.length === 0 || freeleech === 'none') return undefined
  const { imdbid, tmdbid, tvdbid } = search.ids
  return {
    text: search.q,
    words: Object.values(search.text),
    categoryIds,
    ids: {
      ...{ imdb: imdbid, tmdb: tmdbid, tvdb: tvdbid },
      tmdbCategoryIds: tmdbid === undefined ? undefined : idsCovered([search.function === 'tvsearch' ? SERIES : FILMS]),
    },
    wanted: search.episode,
    year: search.year,
    freeleech: freeleech === 'any' ? undefined : freeleech,
    minSize: search.minSize,
    maxSize: search.maxSize,
    createdAfter: search.maxAgeDays === undefined ? undefined : daysBefore(now, search.maxAgeDays),
    offset: search.offset,
    limit: search.limit,
  }
}

/** Whether torrents with the wanted tags and none of the unwanted ones are freeleech, which is the only tag. */
function freeleechWanted(tags: TagFilter | undefined, isAllFree: boolean): boolean | 'any' | 'none' {
  if (tags === undefined) return 'any'
  const [isWanted, isUnwanted] = [tags.include.includes(FREELEECH), tags.exclude.includes(FREELEECH)]
  if (tags.include.some((tag) => tag !== FREELEECH) || (isWanted && isUnwanted)) return 'none'
  if (isAllFree) return isUnwanted ? 'none' : 'any'
  return isWanted ? true : isUnwanted ? false : 'any'
}

/** A number of days before a time, but not before 1970, because the range of `Date` is bounded. */
function daysBefore(now: number, days: number): Date {
  return new Date(Math.max(0, now - days * DAY_MS))
}
