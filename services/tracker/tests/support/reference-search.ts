import { parseTorznabQuery } from '@vault-and-tracker/torznab-xml'
import { parseReleaseName } from '../../src/releases/release-name.ts'
import { memberWords, orInitials, releaseTokens, searchWords } from '../../src/releases/search-words.ts'
import type { SearchQuery, WantedIds } from '../../src/search/queries.ts'
import { SUPPORTED_PARAMETERS, toSearchQuery } from '../../src/torznab/search-query.ts'
import { CATALOGUE, type CatalogueEntry, SITE } from '../data/search-quality.ts'
import { matchesEpisode } from './episode-match.ts'

/** An in-memory search of the catalogue, the reference for all implementations. */
const INDEX = CATALOGUE.map((entry) => {
  const release = parseReleaseName(entry.name)
  return { entry, release, tokens: new Set(releaseTokens(entry.name, release)) }
})

type Indexed = (typeof INDEX)[number]

/** The keys of all results of a Torznab query. */
export function searchTorznab(rawQuery: string): readonly string[] {
  const request = parseTorznabQuery(`apikey=k&${rawQuery}`, {
    supported: SUPPORTED_PARAMETERS,
    limits: { default: 25, max: 100 },
  })
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details') {
    throw new Error(`not a search: ${rawQuery}`)
  }
  const wanted = toSearchQuery(request.query, { categories: SITE, isAllFree: false, now: 0 })
  return wanted === undefined ? [] : keysWhere((indexed) => fulfils(indexed, wanted))
}

/** The keys of all results of a member's search in the REST API. */
export function searchAsMember(rawQuery: string): readonly string[] {
  const parameters = new URLSearchParams(rawQuery)
  const search = parameters.get('search') ?? ''
  const { words, prefixes } = memberWords(search)
  if (words.length === 0 && prefixes.length === 0) return []
  const slug = parameters.get('category')
  const slugs = slug === null ? undefined : new Set([slug, ...childrenOf(slug)])
  return keysWhere(
    ({ entry, tokens }) =>
      (slugs?.has(entry.category) ?? true) &&
      hasWords(tokens, orInitials(words, search)) &&
      (prefixes.length === 0 || [...tokens].some((token) => prefixes.some((prefix) => token.startsWith(prefix)))),
  )
}

function hasWords(tokens: ReadonlySet<string>, words: readonly (readonly string[])[]): boolean {
  return words.every((alternatives) => alternatives.some((word) => tokens.has(word)))
}

function keysWhere(isFound: (indexed: Indexed) => boolean): readonly string[] {
  return INDEX.filter(isFound).map(({ entry }) => entry.key)
}

function fulfils({ entry, release, tokens }: Indexed, query: SearchQuery): boolean {
  const texts = [query.text ?? '', ...(query.words ?? [])].filter((text) => text.trim() !== '')
  const wordsOf = texts.map((text) => orInitials(searchWords(text), text))
  return (
    wordsOf.every((words) => words.length > 0 && hasWords(tokens, words)) &&
    (query.categoryIds?.includes(entry.category) ?? true) &&
    hasOneOf(entry, query.ids ?? {}) &&
    (query.wanted === undefined || matchesEpisode(release, query.wanted)) &&
    (query.year === undefined || release.year === query.year)
  )
}

function hasOneOf({ ids, category }: CatalogueEntry, { imdb, tvdb, tmdb, tmdbCategoryIds }: WantedIds): boolean {
  const isSame = (wanted: number | undefined, id: number | null): boolean => wanted !== undefined && wanted === id
  return (
    (imdb === undefined && tvdb === undefined && tmdb === undefined) ||
    isSame(imdb, ids.imdb) ||
    isSame(tvdb, ids.tvdb) ||
    (isSame(tmdb, ids.tmdb) && (tmdbCategoryIds?.includes(category) ?? true))
  )
}

function childrenOf(slug: string): readonly string[] {
  return SITE.filter(({ parentId }) => parentId === slug).map(({ id }) => id)
}
