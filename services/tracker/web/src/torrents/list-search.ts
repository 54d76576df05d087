import { given, oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import type { paths } from '../../generated/openapi.ts'

type Query = NonNullable<paths['/api/torrents']['get']['parameters']['query']>
export type Sort = NonNullable<Query['sort']>
export type Order = NonNullable<Query['order']>

/** The filters of the list. Omitted ones do not restrict it. */
export type ListFilter = {
  readonly [Name in Exclude<keyof Query, 'sort' | 'order' | 'page' | 'limit'>]?: Query[Name] | undefined
}

/** The parameters of the list's address. Omitted ones have their defaults. */
export type ListSearch = ListFilter & {
  /** The id of a saved search that the page shows. */
  readonly saved?: string | undefined
  readonly sort?: Sort | undefined
  readonly order?: Order | undefined
  readonly page?: number | undefined
}

const SORTS: readonly Sort[] = ['created', 'seeders', 'leechers', 'completed', 'size']
const ORDERS: readonly Order[] = ['asc', 'desc']
const FLAGS = ['true', 'false'] as const
const OWN_STATES: readonly NonNullable<Query['mine']>[] = ['snatched', 'seeding', 'unseen', 'bookmarked']
export const PAGE_SIZE = 50

/** The values of filters that can have several. */
export const VALUES = {
  resolution: ['4320p', '2160p', '1440p', '1080p', '1080i', '720p', '576p', '576i', '540p', '480p', '480i'],
  source: [
    ...['WEB-DL', 'WEBRip', 'WEB', 'BluRay', 'BluRay disc', 'Remux', 'HDTV', 'DVD', 'HDRip', 'SCR', 'CAM', 'TS', 'TC'],
    ...['CD', 'Vinyl', 'SACD'],
  ],
  codec: [
    ...['x265', 'H.265', 'x264', 'H.264', 'AV1', 'VP9', 'XviD', 'MPEG-2', 'VC-1'],
    ...['FLAC', 'ALAC', 'APE', 'DSD', 'WAV', 'MP3', 'AAC', 'OGG', 'Opus'],
  ],
  hdr: ['DV', 'HDR10+', 'HDR10', 'HDR', 'HLG'],
  audio: [
    ...['TrueHD', 'Atmos', 'DTS:X', 'DTS-HD MA', 'DTS-HD', 'DTS', 'DDP', 'DD', 'AAC', 'FLAC', 'ALAC', 'APE', 'DSD'],
    ...['WAV', 'OGG', 'Opus', 'PCM', 'MP3'],
  ],
} as const

/** The name of a language; undefined for codes without one. */
export function languageOf(code: string): string | undefined {
  return /^[a-z]{2}$|^mul$/.test(code) ? LANGUAGES.of(code) : undefined
}

const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** Reads an address; ignores invalid parameters. */
export function readListSearch(raw: RawSearch): ListSearch {
  const known = (name: keyof typeof VALUES) =>
    severalIn(raw, name, (value) => VALUES[name].some((each) => each === value))
  return {
    search: textIn(raw, 'search', 256),
    category: severalIn(raw, 'category', (slug) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)),
    resolution: known('resolution'),
    source: known('source'),
    codec: known('codec'),
    hdr: known('hdr'),
    audio: known('audio'),
    language: severalIn(raw, 'language', (code) => languageOf(code) !== undefined),
    year: rangeIn(raw, 'year'),
    season: rangeIn(raw, 'season'),
    episode: rangeIn(raw, 'episode'),
    minSize: numberIn(raw, 'minSize', Number.MAX_SAFE_INTEGER),
    maxSize: numberIn(raw, 'maxSize', Number.MAX_SAFE_INTEGER),
    maxAge: numberIn(raw, 'maxAge', 36_500) || undefined,
    freeleech: oneOf(raw, 'freeleech', FLAGS),
    internal: oneOf(raw, 'internal', FLAGS),
    scene: oneOf(raw, 'scene', FLAGS),
    alive: oneOf(raw, 'alive', FLAGS),
    uploader: textIn(raw, 'uploader', 64),
    imdb: matching(raw, 'imdb', /^tt[1-9]\d{0,8}$|^tt0\d{1,8}$/),
    tmdb: matching(raw, 'tmdb', /^((movie|tv)\/)?[1-9]\d{0,8}$/),
    tvdb: matching(raw, 'tvdb', /^[1-9]\d{0,8}$/),
    mine: oneOf(raw, 'mine', OWN_STATES),
    sort: oneOf(raw, 'sort', SORTS),
    order: oneOf(raw, 'order', ORDERS),
    page: pageIn(raw),
    saved: textIn(raw, 'saved', 36),
  }
}

/** The filters of an address, without its order and page. */
export function filtersIn({
  sort: _sort,
  order: _order,
  page: _page,
  saved: _saved,
  ...filters
}: ListSearch): ListFilter {
  return filters
}

/** Filters and order as a saved search stores them, always in the same sequence. */
export function textOf({ page: _page, saved: _saved, ...search }: ListSearch): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(given(search))) parameters.set(name, String(value))
  parameters.sort()
  return parameters.toString()
}

/** The address of a saved search. */
export function addressOf({ id, filters }: { id: string; filters: string }): ListSearch {
  return { ...readListSearch(Object.fromEntries(new URLSearchParams(filters))), saved: id }
}

/** The values of a filter, which are separated by commas. */
export function valuesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(',')
}

function severalIn(raw: RawSearch, name: string, isKnown: (value: string) => boolean): string | undefined {
  return [...new Set(valuesOf(textIn(raw, name, 500)))].filter(isKnown).join(',') || undefined
}

/** At most this many seasons, episodes or years in a range. */
const MAX_RANGE = 50

function rangeIn(raw: RawSearch, name: string): string | undefined {
  const range = matching(raw, name, /^\d{1,4}(-\d{1,4})?$/)
  const [from = 0, to = from] = valuesOf(range?.replace('-', ',')).map(Number)
  return from <= to && to - from < MAX_RANGE ? range : undefined
}

function numberIn(raw: RawSearch, name: string, max: number): number | undefined {
  const text = String(raw[name])
  return /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : undefined
}

function matching(raw: RawSearch, name: string, pattern: RegExp): string | undefined {
  const text = textIn(raw, name)
  return text !== undefined && pattern.test(text) ? text : undefined
}
