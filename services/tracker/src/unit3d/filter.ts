import { MAX_EXTERNAL_ID, type NumberRange } from '@vault-and-tracker/torznab-xml'
import { MAX_ALTERNATIVES } from '../search/criteria.ts'
import type { ListQuery, Sort } from '../search/queries.ts'
import { resolutionsOf, sourcesOf } from './numbers.ts'

/** What a tool filters torrents by. */
export type Filter = {
  /** Undefined for all; empty for none. */
  readonly categories: readonly number[] | undefined
  /** Lowercase hex. */
  readonly infoHash: string | undefined
  /** The name of a file that a torrent must contain. */
  readonly fileName: string | undefined
  readonly list: Omit<ListQuery, 'state' | 'category'>
}

const MAX_PER_PAGE = 100
const PER_PAGE = 25
const MAX_TEXT = 256
const MAX_PAGE = 10_000

const SORTS: ReadonlyMap<string, Sort> = new Map([
  ['size', 'size'],
  ['seeders', 'seeders'],
  ['leechers', 'leechers'],
  ['times_completed', 'completed'],
])

/** Filters that this site does not have. They find nothing, because a tool would otherwise take everything. */
const ABSENT_MARKS = ['doubleup', 'dying', 'featured', 'personalRelease', 'refundable']

/**
 * Reads the parameters of UNIT3D's filter. Unknown parameters and malformed values are no condition, as tools send `0` and
 * empty text for what they do not know.
 */
export function readFilter(query: string): Filter {
  const given = new URLSearchParams(query)
  const text = (name: string): string | undefined =>
    given.get(name)?.replace(/\p{C}/gu, '').trim().slice(0, MAX_TEXT) || undefined
  const number = (name: string, most: number): number | undefined => wholeNumber(given.get(name), most)
  const range = (from: string, to: string): NumberRange | undefined => rangeOf(number(from, 9_999), number(to, 9_999))
  const fileName = text('file_name')
  const isSet = (name: string): boolean => /^(1|true|on)$/.test(text(name) ?? '')
  const categories = numbersIn(given, 'categories')
  const season = range('seasonNumber', 'seasonNumber')
  const tmdb = number('tmdbId', MAX_EXTERNAL_ID)
  return {
    categories: ABSENT_MARKS.some(isSet) ? [] : categories.length === 0 ? undefined : categories,
    infoHash: /^[0-9a-f]{40}$/i.exec(given.get('infoHash') ?? given.get('info_hash') ?? '')?.[0].toLowerCase(),
    fileName,
    list: {
      // Names of releases rarely differ from those of their files, so the words find candidates.
      search: fileName === undefined ? text('name') : fileName.replace(/\.[A-Za-z0-9]{2,4}$/, ''),
      source: sourcesOf(numbersIn(given, 'types')),
      resolution: resolutionsOf(numbersIn(given, 'resolutions')),
      tmdb: tmdb === undefined ? undefined : { id: tmdb },
      imdb: wholeNumber(given.get('imdbId')?.replace(/^tt/, ''), MAX_EXTERNAL_ID),
      tvdb: number('tvdbId', MAX_EXTERNAL_ID),
      year: range('startYear', 'endYear'),
      season,
      episode: season === undefined ? undefined : range('episodeNumber', 'episodeNumber'),
      freeleech: numbersIn(given, 'free').includes(100) || undefined,
      internal: number('internal', 1) === 1 || undefined,
      alive: text('alive') !== undefined ? true : isSet('dead') ? false : undefined,
      uploader: text('uploader'),
      sort: SORTS.get(text('sortField') ?? '') ?? 'created',
      order: text('sortDirection') === 'asc' ? 'asc' : 'desc',
      page: number('page', MAX_PAGE) ?? 1,
      limit: Math.min(number('perPage', Number.MAX_SAFE_INTEGER) ?? PER_PAGE, MAX_PER_PAGE),
    },
  }
}

/** A positive whole number. */
export function wholeNumber(text: string | null | undefined, most: number): number | undefined {
  const number = /^\d{1,10}$/.test(text ?? '') ? Number(text) : 0
  return number >= 1 && number <= most ? number : undefined
}

/** The numbers of a repeated parameter, such as `types[]=4&types[]=5`. */
function numbersIn(given: URLSearchParams, name: string): readonly number[] {
  const values = [...given].filter(([key]) => key.replace(/\[\d*\]$/, '') === name)
  return values.flatMap(([, value]) => (/^\d{1,9}$/.test(value) ? [Number(value)] : []))
}

function rangeOf(from: number | undefined, to: number | undefined): NumberRange | undefined {
  const [first, last] = [from ?? to, to ?? from]
  return first === undefined || last === undefined || last < first || last - first >= MAX_ALTERNATIVES
    ? undefined
    : { from: first, to: last }
}
