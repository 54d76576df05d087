import type { SearchQuery, WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { searchWords } from '../releases/search-words.ts'

/** Ids of other catalogues; a release needs one of them. */
export type WantedIds = {
  readonly imdb: number | undefined
  readonly tvdb: number | undefined
  readonly tmdb: number | undefined
  /** TMDB numbers films and series apart, so its number counts only within this family of categories. */
  readonly tmdbFamily: 2000 | 5000
}

/** What a release must fulfil, all of it. */
export type SearchCriteria = {
  /** Words that its name must have. */
  readonly words: readonly string[]
  readonly ids: WantedIds | undefined
  readonly episode: WantedEpisode | undefined
  readonly year: number | undefined
  /** Torznab ids as they were asked for; undefined is all. */
  readonly categories: readonly number[] | undefined
  readonly maxAgeDays: number | undefined
  readonly minSize: number | undefined
  readonly maxSize: number | undefined
}

/**
 * What a Torznab search asks of a release; undefined when nothing can fulfil it: a parameter that is not supported, or
 * words that are none, such as `!!!`.
 */
export function criteriaOf(query: SearchQuery): SearchCriteria | undefined {
  const texts = [query.q, ...Object.values(query.text)].filter((text) => text !== undefined)
  const words = texts.map(searchWords)
  if (query.unsupported.length > 0 || words.some((found) => found.length === 0)) return undefined
  const { imdbid: imdb, tvdbid: tvdb, tmdbid: tmdb } = query.ids
  const hasIds = imdb !== undefined || tvdb !== undefined || tmdb !== undefined
  return {
    words: [...new Set(words.flat())],
    ids: hasIds ? { imdb, tvdb, tmdb, tmdbFamily: query.function === 'tvsearch' ? 5000 : 2000 } : undefined,
    episode: query.episode,
    year: query.year,
    categories: query.categories,
    maxAgeDays: query.maxAgeDays,
    minSize: query.minSize,
    maxSize: query.maxSize,
  }
}
