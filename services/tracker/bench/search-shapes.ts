import { queryTokens } from '../src/releases/search-tokens.ts'
import type { SearchQuery } from '../src/search/search.ts'

/** A torrent of the catalogue, whose name and ids queries are made of. */
export type Sample = {
  readonly hash: string
  readonly title: string
  readonly year: number | null
  readonly imdb: number | null
  readonly tvdb: number | null
  readonly season: number | null
  readonly episode: number | null
  readonly aired: string | null
}

/** One kind of request, made anew of every sample. */
export type RestShape = {
  readonly name: string
  readonly path: (sample: Sample) => string
  /** Whether its throughput is compared with that of its SQL. */
  readonly isRated?: boolean
}

export type FindShape = {
  readonly name: string
  readonly query: (sample: Sample) => Omit<SearchQuery, 'offset' | 'limit'> & { offset?: number }
}

const words = (sample: Sample): readonly string[] => queryTokens(sample.title)
const longest = (sample: Sample): string => words(sample).toSorted((a, b) => b.length - a.length)[0] ?? 'x'
const search = (text: string, more = ''): string => `/api/torrents?search=${encodeURIComponent(text)}${more}`
/** Two letters in the middle changed places. */
const mistyped = (word: string): string => word.replace(/^(.{3})(.)(.)/, '$1$3$2q')

export const REST_SHAPES: readonly RestShape[] = [
  { name: 'first page of all', path: () => '/api/torrents', isRated: true },
  { name: 'first page of all, 100 items', path: () => '/api/torrents?limit=100' },
  { name: 'page 400 of all', path: () => '/api/torrents?page=400' },
  { name: 'page 400 of a parent category', path: () => '/api/torrents?category=tv&page=400' },
  { name: 'all by seeders', path: () => '/api/torrents?sort=seeders' },
  { name: 'a parent category by seeders', path: () => '/api/torrents?category=movies&sort=seeders', isRated: true },
  { name: 'a parent category by seeders, page 400', path: () => '/api/torrents?category=movies&sort=seeders&page=400' },
  {
    name: 'a rare category by leechers, ascending',
    path: () => '/api/torrents?category=other&sort=leechers&order=asc',
  },
  { name: 'a parent category by size', path: () => '/api/torrents?category=books&sort=size' },
  { name: 'one very common word', path: () => search('1080p'), isRated: true },
  { name: 'one very common word, page 400', path: () => search('1080p', '&page=400') },
  { name: 'one very common word by seeders', path: () => search('1080p', '&sort=seeders') },
  { name: 'two common words that meet often', path: () => search('1080p x264') },
  { name: 'two common words that never meet', path: () => search('web dvdrip') },
  { name: 'a common word in a category that never has it', path: () => search('flac', '&category=tv') },
  { name: 'a title', path: (sample) => search(sample.title), isRated: true },
  { name: 'a title by seeders', path: (sample) => search(sample.title, '&sort=seeders') },
  { name: 'one word of a title', path: (sample) => search(longest(sample)) },
  { name: 'beginning of a word, three letters', path: (sample) => search(longest(sample).slice(0, 3)) },
  { name: 'common word and beginning of another', path: (sample) => search(`1080p ${longest(sample).slice(0, 3)}`) },
  { name: 'nothing found, suggestions', path: (sample) => search(words(sample).map(mistyped).join(' ')) },
]

/** What the functions of the Torznab API search for. `tv` and `hd` are ids of categories. */
export function findShapes(tv: readonly string[], hd: readonly string[]): readonly FindShape[] {
  const number = (n: number | null) => ({ from: n ?? 1, to: n ?? 1 })
  return [
    { name: 'latest', query: () => ({}) },
    { name: 'latest of two categories', query: () => ({ categoryIds: hd }) },
    { name: 'latest of two categories, offset 900', query: () => ({ categoryIds: hd, offset: 900 }) },
    { name: 'q', query: ({ title }) => ({ text: title }) },
    { name: 'q, cat', query: ({ title }) => ({ text: title, categoryIds: tv }) },
    { name: 'q of one very common word, cat', query: () => ({ text: '1080p', categoryIds: hd }) },
    { name: 'q of two words that never meet', query: () => ({ text: 'web dvdrip' }) },
    { name: 'q, cat that never meet', query: () => ({ text: 'flac', categoryIds: hd }) },
    {
      name: 'tvsearch: q, season, ep, cat',
      query: ({ title, season, episode }) => ({
        text: title,
        wanted: { kind: 'episode', season: number(season), episode: number(episode) },
        categoryIds: tv,
      }),
    },
    {
      name: 'tvsearch: tvdbid or imdbid, season, ep, cat',
      query: ({ tvdb, imdb, season, episode }) => ({
        ids: { tvdb: tvdb ?? 1, imdb: imdb ?? 1 },
        wanted: { kind: 'episode', season: number(season), episode: number(episode) },
        categoryIds: tv,
      }),
    },
    { name: 'tvsearch: tvdbid', query: ({ tvdb }) => ({ ids: { tvdb: tvdb ?? 1 } }) },
    {
      name: 'tvsearch: season, cat',
      query: ({ season }) => ({ wanted: { kind: 'season', season: number(season) }, categoryIds: tv }),
    },
    {
      name: 'tvsearch: season, ep of no series, cat',
      query: ({ season, episode }) => ({
        wanted: { kind: 'episode', season: number(season), episode: number(episode) },
        categoryIds: tv,
      }),
    },
    {
      name: 'tvsearch: q, daily',
      query: ({ title, aired }) => ({ text: title, wanted: { kind: 'airDate', date: aired ?? '2020-02-02' } }),
    },
    { name: 'movie: imdbid', query: ({ imdb }) => ({ ids: { imdb: imdb ?? 1 } }) },
    { name: 'movie: q, year', query: ({ title, year }) => ({ text: title, year: year ?? 2000 }) },
    { name: 'music: artist, album', query: ({ title }) => ({ words: title.split(' - ') }) },
    { name: 'minsize that nothing has', query: () => ({ minSize: 1e15 }) },
  ]
}
