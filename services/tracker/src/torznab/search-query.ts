import { coveredCategories, type SearchQuery as TorznabSearch } from '@vault-and-tracker/torznab-xml'
import type { Category } from '../categories/categories.ts'
import type { SearchQuery } from '../search/search.ts'

const DAY_MS = 86_400_000

/**
 * What a Torznab search asks of the catalogue; undefined when the answer is an empty feed whatever the catalogue holds:
 * the search has a parameter that is not heeded (Torznab 1.1, "Service Changes"), or only categories that the site does
 * not have.
 *
 * @param now milliseconds since the Unix epoch
 */
export function toSearchQuery(
  search: TorznabSearch,
  categories: readonly Category[],
  now: number,
): SearchQuery | undefined {
  if (search.unsupported.length > 0) return undefined
  const covered = search.categories && coveredCategories(search.categories, categories)
  if (covered?.length === 0) return undefined
  const { imdbid, tmdbid, tvdbid } = search.ids
  // TMDB numbers films and series apart.
  const family = coveredCategories([search.function === 'tvsearch' ? 5000 : 2000], categories)
  return {
    text: search.q,
    words: Object.values(search.text),
    categoryIds: covered?.map(({ id }) => id),
    ids: { imdb: imdbid, tmdb: tmdbid, tvdb: tvdbid, tmdbCategoryIds: family.map(({ id }) => id) },
    wanted: search.episode,
    year: search.year,
    minSize: search.minSize,
    maxSize: search.maxSize,
    createdAfter: search.maxAgeDays === undefined ? undefined : daysBefore(now, search.maxAgeDays),
    offset: search.offset,
    limit: search.limit,
  }
}

/** So many days before a time, but not before 1970: a `Date` does not reach back for ever, and no torrent is older. */
function daysBefore(now: number, days: number): Date {
  return new Date(Math.max(0, now - days * DAY_MS))
}
