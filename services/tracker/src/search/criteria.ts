import {
  coveredCategories,
  type NumberRange,
  type SiteCategory,
  type WantedEpisode,
} from '@vault-and-tracker/torznab-xml'
import { apiError } from '../errors.ts'
import type { RELEASE_VALUES } from '../releases/release-name-tags.ts'
import type { TorrentState } from './listed-torrent.ts'

/** Alternatives, of which one must match. */
export type AnyOf = readonly string[]

/** The fields of a release that a search can filter. */
export type ReleaseField = keyof typeof RELEASE_VALUES | 'language'

/** What a member has done with a torrent. Unseen torrents were neither announced nor uploaded by the member. */
export const OWN_STATES = ['snatched', 'seeding', 'unseen', 'bookmarked'] as const
export type OwnState = (typeof OWN_STATES)[number]

/** The criteria of a search, in terms of the index. */
export type Criteria = {
  readonly state: TorrentState
  /** Undefined means all categories. */
  readonly categoryIds: readonly string[] | undefined
  /** Words of the name. */
  readonly words: readonly AnyOf[]
  /** Words that must not all be in the name together, per exclusion. */
  readonly without: readonly AnyOf[]
  /** A word of the name must begin with one of these; empty means no condition. */
  readonly prefixes: AnyOf
  /** Conditions other than words; see `episodeFacets` and the database function `torrent_facets`. */
  readonly facets: readonly AnyOf[]
  /** Values of the release, one of which must match per field. */
  readonly release: { readonly [Field in ReleaseField]?: AnyOf | undefined }
  /** Facets of ids. One of `ids`, `idWithin` and `infoHash` must match, if any is given. */
  readonly ids: AnyOf
  /** A facet that matches only in these categories. */
  readonly idWithin: { readonly id: string; readonly categoryIds: AnyOf } | undefined
  /** Either info hash in lowercase hex. */
  readonly infoHash: string | undefined
  readonly marks: Marks
  readonly minSize: number | undefined
  readonly maxSize: number | undefined
  readonly created: CreatedAfter | undefined
  readonly uploader: UploaderCriterion | undefined
  readonly alive: AliveCriterion | undefined
  readonly own: OwnCriterion | undefined
}

/** Whether the torrent itself must be freeleech, internal or a scene release, or must not be. */
export type Marks = {
  readonly freeleech?: boolean | undefined
  readonly internal?: boolean | undefined
  readonly scene?: boolean | undefined
}

/** The id of the uploader, and whether their anonymous torrents match. */
export type UploaderCriterion = { readonly id: string; readonly withAnonymous: boolean }

/** Whether there must be a seeder, or must not. The categories are all that the criteria allow. */
export type AliveCriterion = { readonly hasSeeder: boolean; readonly categoryIds: AnyOf }

/** A time after which torrents were created, until now or another time. */
export type CreatedAfter = { readonly after: Date; readonly until?: Date | undefined; readonly now: Date }

/** What a member must have done. A peer is active after `activeSince`. */
export type OwnCriterion = { readonly userId: string; readonly state: OwnState; readonly activeSince: Date }

/** All torrents in a state. */
export function allOf(state: TorrentState): Criteria {
  return {
    state,
    categoryIds: undefined,
    words: [],
    without: [],
    prefixes: [],
    facets: [],
    release: {},
    ids: [],
    idWithin: undefined,
    infoHash: undefined,
    marks: {},
    minSize: undefined,
    maxSize: undefined,
    created: undefined,
    uploader: undefined,
    alive: undefined,
    own: undefined,
  }
}

/** Whether the criteria consist only of state and categories. */
export function isPlain(criteria: Criteria): boolean {
  return Object.entries(criteria).every(([name, part]) => name === 'state' || name === 'categoryIds' || isAbsent(part))
}

function isAbsent(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === undefined
  return Object.values(part).every((value) => value === undefined)
}

/** The facets of ids, as written by the database function `torrent_facets`. */
export function idFacets(ids: {
  readonly imdb?: number | undefined
  readonly tmdb?: number | undefined
  readonly tvdb?: number | undefined
  readonly tmdbCategoryIds?: readonly string[] | undefined
}): Pick<Criteria, 'ids' | 'idWithin'> {
  const { imdb, tmdb, tvdb, tmdbCategoryIds: within } = ids
  const facet = (kind: string, id: number | undefined): AnyOf => (id === undefined ? [] : [`#${kind}${id}`])
  const others = [...facet('i', imdb), ...facet('t', tvdb)]
  if (tmdb === undefined || within === undefined) return { ids: [...others, ...facet('m', tmdb)], idWithin: undefined }
  return { ids: others, idWithin: { id: `#m${tmdb}`, categoryIds: within } }
}

/** A number of TMDB, which numbers films and series separately. Without a kind, both count. */
export type TmdbId = { readonly id: number; readonly kind?: TmdbKind | undefined }
export const TMDB_KINDS = ['movie', 'tv'] as const
type TmdbKind = (typeof TMDB_KINDS)[number]

/** The Torznab IDs of the categories in which a number of TMDB counts. */
const TMDB_CATEGORIES: Readonly<Record<TmdbKind, number>> = { movie: 2000, tv: 5000 }

/** The ids of the categories in which a number of TMDB counts. */
export function tmdbCategoryIds(kind: TmdbKind, categories: readonly SiteCategory[]): readonly string[] {
  return coveredCategories([TMDB_CATEGORIES[kind]], categories).map(({ id }) => id)
}

/** The facets of years. */
export function yearFacets(years: NumberRange): AnyOf {
  return numbered(['#y'], years)
}

/** No client needs more. Each costs an index lookup, or two if it may be an absolute number. */
export const MAX_ALTERNATIVES = 50

/**
 * The facets of wanted episodes, one of which must match.
 *
 * A season matches its episodes, its packs and packs of several seasons; a year also matches everything aired in it. An
 * episode matches single and multi-episode releases but no packs, which applications refuse if they want an episode. An
 * absolute number matches searches without a season or for the first season, which anime groups leave out.
 *
 * @throws ApiError BAD_REQUEST if more than 50 episodes or seasons are wanted
 */
export function episodeFacets(wanted: WantedEpisode): AnyOf {
  switch (wanted.kind) {
    case 'season':
      requireFew(lengthOf(wanted.season))
      return numbered(['#s'], wanted.season)
    case 'airDate':
      return [`#d${wanted.date.replaceAll('-', '')}`]
    case 'episode': {
      const { season, episode } = wanted
      requireFew(lengthOf(episode) * (season === undefined ? 1 : lengthOf(season)))
      const kinds = season === undefined ? ['#e'] : numbered(['#s'], season).map((each) => `${each}e`)
      return numbered([...kinds, ...(mayBeAbsolute(season) ? ['#a'] : [])], episode)
    }
  }
}

/** Whether an episode of these seasons may have an absolute number. */
export function mayBeAbsolute(season: NumberRange | undefined): boolean {
  return season === undefined || (season.from <= 1 && season.to >= 1)
}

/** How many numbers are in a range. */
export function lengthOf({ from, to }: NumberRange): number {
  return to - from + 1
}

function requireFew(alternatives: number): void {
  if (alternatives > MAX_ALTERNATIVES)
    throw apiError('BAD_REQUEST', `season and ep can match at most ${String(MAX_ALTERNATIVES)} alternatives`)
}

/** Facets of each kind with each number of a range. */
function numbered(kinds: AnyOf, range: NumberRange): AnyOf {
  return kinds.flatMap((kind) => Array.from({ length: lengthOf(range) }, (_, i) => `${kind}${String(range.from + i)}`))
}

/** The smallest sizes of the steps of the index except the first: powers of two from 1 MiB to 1 TiB. */
const STEPS = Array.from({ length: 21 }, (_, power) => 2 ** (20 + power))

/** The fine steps: eight in each of the steps except the first and the last. */
const FINE = 8
const FINE_STEPS = STEPS.flatMap((size, i) =>
  Array.from({ length: i === STEPS.length - 1 ? 1 : FINE }, (_, part) => size + (size / FINE) * part),
)

/** Bytes, inclusive. */
export type SizeRange = { readonly minSize: number; readonly maxSize: number }

/** The terms of the index for the sizes in a range, and for few other sizes. */
export function sizeTerms({ minSize, maxSize }: SizeRange): AnyOf {
  return numbers(stepOf(STEPS, minSize), stepOf(STEPS, maxSize)).flatMap((step) => {
    const [first, end] = [STEPS[step - 1], STEPS[step]]
    if (first === undefined || end === undefined || (minSize <= first && maxSize >= end - 1)) return [`#z${step}`]
    const [from, to] = [Math.max(minSize, first), Math.min(maxSize, end - 1)]
    return numbers(stepOf(FINE_STEPS, from), stepOf(FINE_STEPS, to)).map((fine) => `#f${fine}`)
  })
}

/** The whole steps in a range, which contain no other sizes, and the ends of the range. */
function sizeParts({ minSize, maxSize }: SizeRange): {
  whole: readonly SizeRange[]
  ends: readonly SizeRange[]
} {
  const edges = STEPS.filter((step) => step > minSize && step <= maxSize)
  const whole = edges.slice(1).map((edge, i) => ({ minSize: edges[i] ?? 0, maxSize: edge - 1 }))
  const [first, last] = [edges[0], edges.at(-1)]
  if (first === undefined || last === undefined) return { whole, ends: [{ minSize, maxSize }] }
  return {
    whole,
    ends: [
      { minSize, maxSize: first - 1 },
      { minSize: last, maxSize },
    ],
  }
}

/** The number of a step, from 0. */
function stepOf(steps: readonly number[], size: number): number {
  return steps.filter((step) => step <= size).length
}

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}

/** Each part costs 0.3 ms, even if it matches nothing. */
const MAX_GROUPS = 8

/**
 * Criteria that together match the same torrents, each of them once. The index is several times slower at alternatives
 * than at each of them, and the first parts may have enough matches.
 */
export function alternativesOf(criteria: Criteria): readonly Criteria[] {
  const { categoryIds = [], facets, release } = criteria
  const years = facets.find((any) => any.every((facet) => facet.startsWith('#y'))) ?? []
  return [
    sizesOf(criteria),
    split(categoryIds, (some) => ({ ...criteria, categoryIds: some })),
    split(years, (some) => ({ ...criteria, facets: facets.map((any) => (any === years ? some : any)) })),
    // A torrent has only one of these, but possibly several languages.
    ...(['resolution', 'source', 'codec'] as const).map((field) =>
      split(release[field] ?? [], (some) => ({ ...criteria, release: { ...release, [field]: some } })),
    ),
  ].reduce((most, parts) => (parts.length > most.length ? parts : most), [criteria])
}

function sizesOf(criteria: Criteria): readonly Criteria[] {
  const { minSize, maxSize } = criteria
  if (minSize === undefined && maxSize === undefined) return []
  const { whole, ends } = sizeParts({ minSize: minSize ?? 0, maxSize: maxSize ?? Number.MAX_SAFE_INTEGER })
  const joined = groups(whole).map((some) => ({ minSize: some[0]?.minSize, maxSize: some.at(-1)?.maxSize }))
  // Of the torrents in the ends, some are outside of the range.
  return [...joined, ...ends].map((part) => ({ ...criteria, ...part }))
}

function split(values: AnyOf, part: (some: AnyOf) => Criteria): readonly Criteria[] {
  return groups([...new Set(values)]).map(part)
}

/** At most `MAX_GROUPS` groups of neighbours. */
function groups<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const length = Math.ceil(items.length / MAX_GROUPS)
  return Array.from({ length: Math.ceil(items.length / Math.max(1, length)) }, (_, i) =>
    items.slice(i * length, (i + 1) * length),
  )
}
