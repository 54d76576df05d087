import type { Total } from '../pagination.ts'
import type { AnyOf, Criteria } from './criteria.ts'
import type { CountedValue } from './facets.ts'
import type { Sort } from './queries.ts'

/** The order of the matches, and the part of them to return. */
export type Page = {
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
  /** All categories, for an order by counts, whose index is sorted within each category. */
  readonly allCategoryIds?: readonly string[] | undefined
}

/** The store of searches, which never find deleted torrents. */
export type SearchStore = {
  /** A page of all torrents of a state, optionally within categories, which is cheap. */
  plainPage(criteria: Criteria, page: Page): Promise<FoundIds>
  /** The id of a user, whatever the case of the name. */
  userId(username: string): Promise<string | undefined>
  /** The id of an approved torrent by either info hash, in lowercase hex. */
  byInfoHash(infoHash: string): Promise<string | undefined>
  /** Runs the statements of a search within a total time. @throws OutOfTime */
  within<T>(milliseconds: number, work: (statements: SearchStatements) => Promise<T>): Promise<T>
}

/** The ids of a page, and the number of all matches. */
export type FoundIds = Total & { readonly ids: readonly string[] }

/** How many recent torrents match, and the id of the newest. If the number is not exact, older ones may match too. */
export type RecentMatches = { readonly count: number; readonly isExact: boolean; readonly newest: string | null }

/** The statements of a search. */
export type SearchStatements = {
  page(criteria: Criteria, page: Page): Promise<FoundIds>
  /** The number of matches as for a page, and their values; none if there are too many matches. */
  facets(criteria: Criteria): Promise<Total & { readonly values: readonly CountedValue[] }>
  /** The ids of some matches, newest first. Fast, but not the newest of all if there are many. */
  some(criteria: Criteria, limit: number): Promise<readonly string[]>
  matchesAny(criteria: Criteria): Promise<boolean>
  /** Counts the matches after `criteria.created` among the newest torrents. */
  recent(criteria: Criteria): Promise<RecentMatches>
  /** The indexed words with a prefix; undefined if there are too many. */
  wordsWithPrefix(prefix: string): Promise<AnyOf | undefined>
  /** The most similar indexed words for each word, which may include the word itself. */
  similarWords(words: readonly string[]): Promise<readonly AnyOf[]>
}
