import { queryTokens } from '../src/releases/search-words.ts'

/** A torrent of the catalogue. Queries contain its name and ids. */
export type Sample = {
  readonly hash: string
  readonly title: string
  readonly year: number | null
  readonly imdb: number | null
  readonly tvdb: number | null
  readonly season: number | null
  readonly episode: number | null
  readonly aired: string | null
  readonly resolution: string | null
  readonly source: string | null
  readonly codec: string | null
  readonly hdr: string | null
  readonly audio: string | null
  readonly language: string | null
  readonly megabytes: number
  readonly uploader: string
}

/** A kind of request, with one request per sample. */
export type Shape = {
  readonly name: string
  /** The path; for Torznab the parameters without the key and `limit`. */
  readonly path: (sample: Sample) => string
  /** Whether the throughput is measured. */
  readonly isRated?: boolean
  /** One of many shapes, measured with a few samples. */
  readonly isPair?: true
}

const words = (sample: Sample): readonly string[] => queryTokens(sample.title)
const longest = (sample: Sample): string => words(sample).toSorted((a, b) => b.length - a.length)[0] ?? 'x'
const search = (text: string, more = ''): string => `/api/torrents?search=${encodeURIComponent(text)}${more}`
/** A word with a typing error. */
const mistyped = (word: string): string => word.replace(/^(.{3})(.)(.)/, '$1$3$2q')

/** From 0 to 49, so that concurrent requests are mostly for different pages. */
const anyOf50 = (hash: string): number => Number.parseInt(hash.slice(-6), 16) % 50

/** Frequent words of titles in the made catalogue. */
const COMMON_WORDS = 'love the night world arinbraor gatordelda hatorferper garo of love an'.split(' ')

export const REST_SHAPES: readonly Shape[] = [
  { name: 'first page of all', path: () => '/api/torrents', isRated: true },
  {
    name: 'one of the first 50 pages of all',
    path: ({ hash }) => `/api/torrents?page=${String(anyOf50(hash) + 1)}`,
    isRated: true,
  },
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
  {
    name: 'a title of one to three common words',
    path: ({ hash }) =>
      search(COMMON_WORDS.slice(anyOf50(hash) % 8, (anyOf50(hash) % 8) + 1 + (anyOf50(hash) % 3)).join(' ')),
  },
  { name: 'a title by seeders', path: (sample) => search(sample.title, '&sort=seeders') },
  { name: 'one word of a title', path: (sample) => search(longest(sample)) },
  { name: 'beginning of a word, three letters', path: (sample) => search(longest(sample).slice(0, 3)) },
  { name: 'common word and beginning of another', path: (sample) => search(`1080p ${longest(sample).slice(0, 3)}`) },
  { name: 'nothing found, suggestions', path: (sample) => search(words(sample).map(mistyped).join(' ')) },
]

/** Each filter with a value of the sample, or with one that never occurs together with its others. */
const FILTERS: readonly ((sample: Sample) => string)[] = [
  ({ resolution }) => `resolution=${resolution ?? '2160p'}`,
  ({ source }) => `source=${source ?? 'DVD'}`,
  ({ codec }) => `codec=${codec ?? 'FLAC'}`,
  ({ hdr }) => `hdr=${hdr ?? 'DV'}`,
  ({ audio }) => `audio=${encodeURIComponent(audio ?? 'DTS-HD MA')}`,
  ({ language }) => `language=${language ?? 'ja'}`,
  ({ year }) => `year=${String(year ?? '2010-2019')}`,
  ({ season }) => `season=${String(season ?? 1)}`,
  ({ episode: number }) => `episode=${String(number ?? 7)}`,
  ({ megabytes }) => `minSize=${String(2 ** 20 * megabytes)}`,
  ({ megabytes }) => `maxSize=${String(2 ** 20 * megabytes)}`,
  ({ hash }) => `maxAge=${['7', '30', '365', '1000'][anyOf50(hash) % 4] ?? ''}`,
  () => 'category=tv-hd,movies-uhd,audio',
  () => 'freeleech=true',
  () => 'internal=true',
  () => 'scene=false',
  () => 'alive=true',
  () => 'alive=false',
  ({ uploader }) => `uploader=${uploader}`,
  ({ imdb }) => `imdb=${id(imdb)}`,
  () => 'search=-x265',
  (sample) => `search=${longest(sample)}+-web`,
  () => 'mine=snatched',
  () => 'mine=seeding',
  () => 'mine=unseen',
]

/** Lists with one filter and with each pair of filters, named after the values of a sample, and facets. */
export function filterShapes([sample]: readonly Sample[]): readonly Shape[] {
  if (sample === undefined) return []
  const parameterOf = (filter: (each: Sample) => string): string => filter(sample).split('=')[0] ?? ''
  return FILTERS.flatMap((one, i) => [
    { name: one(sample), path: (each: Sample) => `/api/torrents?${one(each)}` },
    { name: `${one(sample)}, facets`, path: (each: Sample) => `/api/torrents/facets?${one(each)}` },
    ...FILTERS.slice(i + 1)
      .filter((other) => parameterOf(other) !== parameterOf(one))
      .map((other) => ({
        name: `${one(sample)}, ${other(sample)}`,
        path: (each: Sample) => `/api/torrents?${one(each)}&${other(each)}`,
        isPair: true as const,
      })),
  ])
}

const episode = (t: Sample): string => `season=${String(t.season ?? 1)}&ep=${String(t.episode ?? 1)}`
const day = ({ aired }: Sample): string => {
  const [year = '2020', month = '02', dayOfMonth = '02'] = aired?.split('-') ?? []
  return `season=${year}&ep=${month}/${dayOfMonth}`
}
const q = ({ title }: Sample): string => `q=${encodeURIComponent(title)}`

export const TORZNAB_SHAPES: readonly Shape[] = [
  { name: 'latest', path: () => 't=search', isRated: true },
  {
    name: 'one of the first 50 pages of the latest',
    path: ({ hash }) => `t=search&offset=${String(100 * anyOf50(hash))}`,
    isRated: true,
  },
  { name: 'latest of two categories', path: () => 't=tvsearch&cat=5030,5040', isRated: true },
  { name: 'latest of two categories, offset 900', path: () => 't=tvsearch&cat=5030,5040&offset=900' },
  { name: 'search: q', path: (sample) => `t=search&${q(sample)}`, isRated: true },
  { name: 'search: q, cat', path: (sample) => `t=search&${q(sample)}&cat=5000` },
  { name: 'search: q of one very common word, cat', path: () => 't=search&q=1080p&cat=5030,5040' },
  { name: 'search: q of two words that never meet', path: () => 't=search&q=web+dvdrip' },
  { name: 'search: q, cat that never meet', path: () => 't=search&q=flac&cat=5030,5040' },
  { name: 'search: tag', path: () => 't=search&tag=freeleech,internal' },
  { name: 'search: excluded tag', path: () => 't=search&tag=-scene' },
  { name: 'search: q, excluded tag that never meet', path: () => 't=search&q=xvid&tag=-scene' },
  { name: 'search: minsize that nothing has', path: () => 't=search&minsize=1000000000000000' },
  {
    name: 'tvsearch: q, season, ep, cat',
    path: (sample) => `t=tvsearch&${q(sample)}&${episode(sample)}&cat=5000`,
    isRated: true,
  },
  {
    name: 'tvsearch: tvdbid or imdbid, season, ep, cat',
    path: (sample) => `t=tvsearch&tvdbid=${id(sample.tvdb)}&imdbid=${id(sample.imdb)}&${episode(sample)}&cat=5000`,
    isRated: true,
  },
  { name: 'tvsearch: tvdbid', path: ({ tvdb }) => `t=tvsearch&tvdbid=${id(tvdb)}` },
  { name: 'tvsearch: season, cat', path: ({ season }) => `t=tvsearch&season=${String(season ?? 1)}&cat=5000` },
  { name: 'tvsearch: season, ep of no series, cat', path: (sample) => `t=tvsearch&${episode(sample)}&cat=5000` },
  { name: 'tvsearch: q, daily', path: (sample) => `t=tvsearch&${q(sample)}&${day(sample)}` },
  { name: 'movie: imdbid', path: ({ imdb }) => `t=movie&imdbid=${id(imdb)}` },
  { name: 'movie: q, year', path: (sample) => `t=movie&${q(sample)}&year=${String(sample.year ?? 2000)}` },
  {
    name: 'music: artist, album',
    path: ({ title }) => {
      const [artist = '', album = ''] = title.split(' - ').map(encodeURIComponent)
      return `t=music&q=&artist=${artist}&album=${album}`
    },
  },
  { name: 'book: title', path: ({ title }) => `t=book&title=${encodeURIComponent(title)}` },
  { name: 'details', path: ({ hash }) => `t=details&id=${hash}` },
  { name: 'caps', path: () => 't=caps' },
]

function id(number: number | null): string {
  return String(number ?? 1)
}
