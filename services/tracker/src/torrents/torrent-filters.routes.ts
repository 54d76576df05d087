import { type InputProblem, parseInput, readQuery } from '@vault-and-tracker/rest'
import { MAX_EXTERNAL_ID } from '@vault-and-tracker/torznab-xml'
import { z } from 'zod'
import { SLUG_PATTERN } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import { optionalInteger, queryFlag, queryRange, queryValues } from '../http/fields.ts'
import { RELEASE_VALUES } from '../releases/release-name-tags.ts'
import { lengthOf, MAX_ALTERNATIVES, OWN_STATES, TMDB_KINDS, type TmdbId } from '../search/criteria.ts'
import { type ListFilters, SORTS } from '../search/queries.ts'
import type { Search } from '../search/search.ts'
import { endpoints } from '../surface.ts'

export const categorySlug = z.string().regex(SLUG_PATTERN, 'must be the slug of a category')
export const imdbId = z
  .string()
  .regex(/^(tt)?\d{1,10}$/, 'must be tt and digits')
  .transform((text) => Number(text.replace('tt', '')))
  .refine((id) => id > 0 && id <= MAX_EXTERNAL_ID, 'must be tt and digits')
export const externalId = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a positive whole number')
  .transform(Number)
  .refine((id) => id > 0 && id <= MAX_EXTERNAL_ID, 'must be a positive whole number')
const tmdbId = z
  .string()
  .regex(/^((movie|tv)\/)?\d{1,10}$/, 'must be a positive whole number, after tv/ or movie/ if only one kind matches')
  .transform((text): TmdbId => {
    const [id, kind] = text.split('/').toReversed()
    return { id: Number(id), kind: TMDB_KINDS.find((each) => each === kind) }
  })
  .refine(({ id }) => id > 0 && id <= MAX_EXTERNAL_ID, 'must be a positive whole number')

const oneOrMore = (values: readonly string[]) => {
  const description = `one or more of ${values.join(', ')}, separated by commas`
  return queryValues((value) => values.includes(value), `must be ${description}`).meta({ description })
}

const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

function isLanguage(code: string): boolean {
  return /^[a-z]{2}$|^mul$/.test(code) && LANGUAGES.of(code) !== undefined
}

const MAX_DAYS = 36_500

/** The filters of a list of torrents. */
export const torrentFilters = {
  category: queryValues(
    (value) => SLUG_PATTERN.test(value),
    'must be one or more slugs of categories, separated by commas',
  ).meta({ description: 'slugs, separated by commas; a root includes its subcategories' }),
  search: z.string({ error: 'must be given once' }).max(256, 'must be at most 256 characters long').optional().meta({
    description:
      'words of the name in any order; the last one can be the beginning of a word; excludes a word after a hyphen, as in `-x264`',
  }),
  resolution: oneOrMore(RELEASE_VALUES.resolution),
  source: oneOrMore(RELEASE_VALUES.source),
  codec: oneOrMore(RELEASE_VALUES.codec),
  hdr: oneOrMore(RELEASE_VALUES.hdr),
  audio: oneOrMore(RELEASE_VALUES.audio),
  language: queryValues(isLanguage, 'must be one or more codes of ISO 639-1, or mul, separated by commas').meta({
    description: 'codes of ISO 639-1, or `mul` for several, separated by commas',
  }),
  year: queryRange({ max: 9_999, alternatives: MAX_ALTERNATIVES }),
  season: queryRange({ max: 9_999, alternatives: MAX_ALTERNATIVES }),
  episode: queryRange({ max: 99_999, alternatives: MAX_ALTERNATIVES }),
  minSize: optionalInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  maxSize: optionalInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  maxAge: optionalInteger({ min: 1, max: MAX_DAYS }).describe('days since the upload'),
  freeleech: queryFlag.optional(),
  internal: queryFlag.optional().meta({ description: 'whether it was released by staff of the site' }),
  scene: queryFlag.optional().meta({ description: 'whether it is a scene release' }),
  alive: queryFlag.optional().meta({ description: 'whether there is a seeder' }),
  uploader: z
    .string()
    .regex(/^\P{C}{1,64}$/u, 'must be a username')
    .optional(),
  imdb: imdbId.optional(),
  tmdb: tmdbId.optional().meta({ description: 'such as 1399, or tv/1399 for series only' }),
  tvdb: externalId.optional(),
  mine: z
    .enum(OWN_STATES, `must be one of ${OWN_STATES.join(', ')}`)
    .optional()
    .meta({ description: '`unseen`: neither announced nor uploaded by you' }),
}

/** The order of a list. */
export const listOrder = {
  sort: z.enum(SORTS, `must be one of ${SORTS.join(', ')}`).default('created'),
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc'),
}

/** Whether season and episode together are few enough terms of a search. */
export function areFewEpisodes({ season, episode }: Pick<ListFilters, 'season' | 'episode'>): boolean {
  return season === undefined || episode === undefined || lengthOf(season) * lengthOf(episode) <= MAX_ALTERNATIVES
}

/** The problem if `areFewEpisodes` is false. */
export const tooManyEpisodes = {
  path: ['episode'],
  error: `must have at most ${MAX_ALTERNATIVES} alternatives together with season`,
}

/** The query of a list as an address has it. The order is read too, because pages of a saved search keep it. */
const addressQuery = z.object({ ...torrentFilters, ...listOrder }).refine(areFewEpisodes, tooManyEpisodes)

/**
 * The filters in a query string.
 *
 * @throws ApiError BAD_REQUEST naming a parameter that no list has, or whose value is malformed
 */
export function readListFilters(text: string): ListFilters {
  const names = Object.keys(addressQuery.shape)
  if ([...new URLSearchParams(text).keys()].some((name) => !names.includes(name)))
    throw apiError('BAD_REQUEST', 'filters: contains an unknown filter.')
  return withoutOrder(parseInput(addressQuery, readQuery(`?${text}`, names, malformed), malformed))
}

function withoutOrder({ sort: _sort, order: _order, ...filters }: z.output<typeof addressQuery>): ListFilters {
  return filters
}

function malformed({ name, problem }: InputProblem): Error {
  return apiError('BAD_REQUEST', `filters: ${name} ${problem}`)
}

const facetCounts = z.array(z.object({ value: z.string(), count: z.int() }))

const endpoint = endpoints<{ search: Search }>()

/** Counts for the filters of the list. */
export const torrentFilterEndpoints = [
  endpoint({
    tag: 'torrents',
    method: 'GET',
    limit: 'read',
    access: 'member',
    path: '/api/torrents/facets',
    operationId: 'countTorrentFacets',
    summary: 'Count the values of a list, such as resolutions, to filter it further',
    query: z.object(torrentFilters).refine(areFewEpisodes, tooManyEpisodes),
    answer: z.object({
      total: z.int(),
      totalIsExact: z.boolean().meta({ description: 'false if there are more than `total`' }),
      facets: z
        .object({
          category: facetCounts,
          resolution: facetCounts,
          source: facetCounts,
          codec: facetCounts,
          hdr: facetCounts,
          audio: facetCounts,
          language: facetCounts,
          year: facetCounts,
        })
        .optional()
        .meta({ description: 'by parameter, most frequent first; absent if `totalIsExact` is false' }),
    }),
    handle: async ({ query, caller }, { search }) =>
      search.facets(
        { ...query, state: 'approved', seesAnonymous: caller.session.account.role !== 'member' },
        caller.session.account.id,
      ),
  }),
]
