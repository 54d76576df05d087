import { readFileSync } from 'node:fs'
import type { SiteCategory } from '@vault-and-tracker/torznab-xml'

/** A release of the catalogue that the queries run against. */
export type CatalogueEntry = {
  /** A label written by hand, not by a parser: `harbour/s01e05/hd`. */
  readonly key: string
  /** The slug of its category. */
  readonly category: string
  readonly ids: { readonly imdb: number | null; readonly tvdb: number | null; readonly tmdb: number | null }
  readonly name: string
}

/** A query as a tool or a member sends it, and the complete set of results. */
export type SearchCase = {
  /** The tool, or `member` for the REST search. */
  readonly client: string
  /** For a tool the query string of `/api/torznab` without the key, for a member that of `/api/torrents`. */
  readonly query: string
  /** Keys of the catalogue. */
  readonly returns: readonly string[]
  /** For a member's search that returns nothing: keys of which similar words should suggest at least one. */
  readonly suggests: readonly string[]
}

/** The category tree of the tests: the standard tree, with slugs as ids. */
export const SITE: readonly SiteCategory[] = [
  ...family('movies', 2000, { 'movies-hd': 2040, 'movies-uhd': 2045, 'movies-sd': 2030, 'movies-bluray': 2050 }),
  ...family('tv', 5000, {
    'tv-hd': 5040,
    'tv-uhd': 5045,
    'tv-sd': 5030,
    'tv-anime': 5070,
    'tv-documentary': 5080,
  }),
  ...family('audio', 3000, { 'audio-mp3': 3010, 'audio-lossless': 3040 }),
  ...family('games', 4050, {
    'games-pc': 4050,
    'games-console': 1000,
    'games-playstation': 1180,
    'games-xbox': 1040,
  }),
  ...family('software', 4000, { 'software-windows': 4020, 'software-macos': 4030 }),
  ...family('books', 7000, { ebooks: 7020, comics: 7030, magazines: 7010 }),
  ...family('xxx', 6000, {}),
  ...family('other', 8000, {}),
]

/** The releases, from the oldest to the newest. */
export const CATALOGUE: readonly CatalogueEntry[] = rowsOf('catalogue').map(
  ([key = '', category = '', ids = '', name = '']) => ({ key, category, ids: readIds(ids), name }),
)

export const SEARCH_CASES: readonly SearchCase[] = rowsOf('queries').map(
  ([client = '', query = '', expected = '', suggests = '']) => ({
    client,
    query,
    returns: keysOf(expected),
    suggests: suggests === '' ? [] : keysOf(suggests.replace('suggests ', '')),
  }),
)

function family(slug: string, torznabId: number, children: Readonly<Record<string, number>>): SiteCategory[] {
  return [
    { id: slug, parentId: null, torznabId, name: slug },
    ...Object.entries(children).map(([id, childId]) => ({ id, parentId: slug, torznabId: childId, name: id })),
  ]
}

/** The lines of a file of the folder `search-quality`, each as its columns. */
function rowsOf(file: string): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`search-quality/${file}.txt`, import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => line.split(' | '))
}

function readIds(text: string): CatalogueEntry['ids'] {
  const numberOf = (name: string): number | null => {
    const digits = new RegExp(`\\b${name}=(\\d+)`).exec(text)?.[1]
    return digits === undefined ? null : Number(digits)
  }
  return { imdb: numberOf('imdb'), tvdb: numberOf('tvdb'), tmdb: numberOf('tmdb') }
}

/**
 * The keys that match patterns: `harbour/s01*` by key, `in:tv-anime` by category. `-harbour/*` removes keys, and
 * `nothing` matches none.
 */
function keysOf(patterns: string): readonly string[] {
  const chosen = new Set<string>()
  for (const pattern of patterns.split(' ').filter((one) => one !== 'nothing')) {
    const removes = pattern.startsWith('-')
    const found = CATALOGUE.filter((entry) => isMeant(entry, removes ? pattern.slice(1) : pattern))
    if (found.length === 0) throw new Error(`The queries name a release that the catalogue lacks: ${pattern}`)
    for (const { key } of found) {
      if (removes) chosen.delete(key)
      else chosen.add(key)
    }
  }
  return [...chosen]
}

function isMeant({ key, category }: CatalogueEntry, pattern: string): boolean {
  if (pattern.startsWith('in:')) return category === pattern.slice(3)
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(key)
}
