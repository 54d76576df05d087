import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { NumberRange, WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { type Categories, type Category, findBySlug, withSubcategories } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import { type Listed, MAX_OFFSET, type Page as PageNumber, type Total, totalOf } from '../pagination.ts'
import { memberWords, orInitials, searchWords, splitExclusions } from '../releases/search-words.ts'
import {
  type AnyOf,
  allOf,
  type Criteria,
  episodeFacets,
  exactTotalOf,
  idFacets,
  isPlain,
  type OwnState,
  type ReleaseField,
  yearFacets,
} from './criteria.ts'
import { type CountedValue, type Facet, type FacetCount, facetsOf } from './facets.ts'
import type { ListedTorrent, TorrentState } from './listed-torrent.ts'
import { createCoalescer, type SearchQueue } from './search-queue.ts'

/** A search for approved torrents. Undefined fields are no condition; all others must match. */
export type SearchQuery = {
  /** Free text, whose words must be in the name in any order. Blank text is no condition. */
  readonly text?: string | undefined
  /** Artists, albums, authors or titles, whose words must also be in the name. */
  readonly words?: readonly string[] | undefined
  /** Ids of categories, including subcategories. An empty list finds nothing. */
  readonly categoryIds?: readonly string[] | undefined
  /** A torrent must have one of these (Torznab 1.1). An empty object is no condition. */
  readonly ids?: WantedIds | undefined
  readonly wanted?: WantedEpisode | undefined
  readonly year?: number | undefined
  /** Whether the torrent itself is freeleech. */
  readonly freeleech?: boolean | undefined
  /** Bytes, inclusive. */
  readonly minSize?: number | undefined
  readonly maxSize?: number | undefined
  readonly createdAfter?: Date | undefined
  /** From 0. Beyond `MAX_OFFSET` there are no items. */
  readonly offset: number
  /** From 0 to 100. */
  readonly limit: number
}

export type WantedIds = {
  /** The number in `tt0944947`. */
  readonly imdb?: number | undefined
  readonly tmdb?: number | undefined
  /**
   * Ids of the categories in which the TMDB number counts, because TMDB numbers films and series separately; undefined
   * for all.
   */
  readonly tmdbCategoryIds?: readonly string[] | undefined
  readonly tvdb?: number | undefined
  /** Either info hash in lowercase hex. */
  readonly infoHash?: string | undefined
}

/** A page of results, newest first. */
export type Found = Total & { readonly items: readonly ListedTorrent[] }

export const SORTS = ['created', 'seeders', 'leechers', 'size'] as const
export type Sort = (typeof SORTS)[number]

/** The filters of a list. Undefined ones are no condition; all others must match. Several values are alternatives. */
export type ListFilters = { readonly [Field in ReleaseField]?: readonly string[] | undefined } & {
  /** Slugs of categories, which include their subcategories. */
  readonly category?: readonly string[] | undefined
  /** Words of the name in any order; the last one can be the beginning of a word. Words after a hyphen are excluded. */
  readonly search?: string | undefined
  readonly year?: NumberRange | undefined
  readonly season?: NumberRange | undefined
  readonly episode?: NumberRange | undefined
  /** Bytes, inclusive. */
  readonly minSize?: number | undefined
  readonly maxSize?: number | undefined
  /** Days. */
  readonly maxAge?: number | undefined
  /** Whether the torrent itself is freeleech. */
  readonly freeleech?: boolean | undefined
  /** Whether there is a seeder. */
  readonly alive?: boolean | undefined
  /** A username. */
  readonly uploader?: string | undefined
  readonly imdb?: number | undefined
  readonly tmdb?: number | undefined
  readonly tvdb?: number | undefined
  readonly mine?: OwnState | undefined
}

/** The filters of torrents in a state. */
export type FilterQuery = ListFilters & {
  readonly state: TorrentState
  /** Whether the filter by uploader finds anonymous torrents of other users. */
  readonly seesAnonymous?: boolean | undefined
}

/** The query of a list or of a member's search. */
export type ListQuery = PageNumber &
  FilterQuery & {
    readonly sort: Sort
    readonly order: 'asc' | 'desc'
  }

/** A page of a list. `suggestions` are torrents with similar words, if a search found nothing. */
export type TorrentPage = Listed<ListedTorrent> & { readonly suggestions?: readonly ListedTorrent[] | undefined }

/** The total of a list, and the values that its torrents have, unless there are too many torrents to count. */
export type Faceted = Total & { readonly facets?: Record<Facet, FacetCount[]> | undefined }

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

/** The ids of a page, and the number of all matches, counted up to `exactTotalOf` and one. */
type FoundIds = { readonly ids: readonly string[]; readonly counted: number }

/** The statements of a search. */
export type SearchStatements = {
  page(criteria: Criteria, page: Page): Promise<FoundIds>
  /** The number of matches as for a page, and their values; none if there are too many matches. */
  facets(criteria: Criteria): Promise<{ readonly counted: number; readonly values: readonly CountedValue[] }>
  /** The ids of some matches, newest first. Fast, but not the newest of all if there are many. */
  some(criteria: Criteria, limit: number): Promise<readonly string[]>
  matchesAny(criteria: Criteria): Promise<boolean>
  /** The indexed words with a prefix; undefined if there are too many. */
  wordsWithPrefix(prefix: string): Promise<AnyOf | undefined>
  /** The most similar indexed words for each word, which may include the word itself. */
  similarWords(words: readonly string[]): Promise<readonly AnyOf[]>
}

export type Search = ReturnType<typeof createSearch>

const MAX_SUGGESTIONS = 10
const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const

/**
 * Finds torrents for the lists and searches of the REST API and the Torznab API. Concurrent requests for the same page
 * share a search.
 */
export function createSearch(deps: {
  store: SearchStore
  queue: SearchQueue
  torrents: { byIds(ids: readonly string[]): Promise<readonly ListedTorrent[]> }
  categories: Pick<Categories, 'all' | 'idsWithDeleted'>
  clock: Clock
  /** A peer whose last announce is older is not seeding. */
  peerTtlMs: number
}) {
  const { store, queue, torrents, clock } = deps
  const finds = createCoalescer<Found>()
  const lists = createCoalescer<TorrentPage>()
  const faceted = createCoalescer<Faceted>()

  const search = <T>(member: string, work: (statements: SearchStatements) => Promise<T>): Promise<T> =>
    queue.run(member, (milliseconds) => store.within(milliseconds, work))

  return {
    /**
     * One page, newest first.
     *
     * @param member the id of the user who searches
     * @throws ApiError RATE_LIMITED or UNAVAILABLE if too many searches are in progress, or this one takes too long
     */
    async find(query: SearchQuery, member: string): Promise<Found> {
      const criteria = criteriaOf(query, new Date(clock.now()))
      if (criteria === undefined) return { items: [], ...totalOf(0) }
      const { offset } = query
      const page = { ...NEWEST_FIRST, offset, limit: offset > MAX_OFFSET ? 0 : query.limit }
      // Searches that take queue are shared only by the same member, so that each member uses their own queue.
      const isFree = isPlain(criteria)
      const shared = () => finds(JSON.stringify([query, isFree ? '' : member]), () => find(criteria, page, member))
      return isFree ? shared() : queue.admit(member, shared)
    },

    /** An approved torrent by either info hash, in lowercase hex. */
    async byInfoHash(infoHash: string): Promise<ListedTorrent | undefined> {
      const id = await store.byInfoHash(infoHash)
      return id === undefined ? undefined : (await torrents.byIds([id]))[0]
    },

    /**
     * One page of the torrents in a state.
     *
     * @param member the id of the user who searches
     * @throws ApiError BAD_REQUEST if a category or the uploader does not exist; and as `find` does
     */
    list: (query: ListQuery, member: string): Promise<TorrentPage> => {
      const isFree = isUnfiltered(query)
      const shared = () => lists(JSON.stringify([query, isFree ? '' : member]), () => list(query, member))
      return isFree ? shared() : queue.admit(member, shared)
    },

    /**
     * The values of the torrents in a list. Throws as `list` does.
     *
     * @param member the id of the user who searches
     */
    facets: (query: FilterQuery, member: string): Promise<Faceted> =>
      queue.admit(member, () => faceted(JSON.stringify([query, member]), () => facets(query, member))),
  }

  async function find(criteria: Criteria, page: Page, member: string): Promise<Found> {
    const { ids, counted } = isPlain(criteria)
      ? await store.plainPage(criteria, page)
      : await search(member, (statements) => statements.page(criteria, page))
    return { items: await torrents.byIds(ids), ...totalOf(counted) }
  }

  async function list(query: ListQuery, member: string): Promise<TorrentPage> {
    const { page, limit, sort, order } = query
    const wanted = await wantedBy(query, member)
    if (wanted === undefined) return { items: [], page, limit, ...totalOf(0) }
    const { within, tokens, allCategoryIds } = wanted
    const asked = { sort, order, offset: (page - 1) * limit, limit, allCategoryIds }
    if (tokens.length === 0 && isPlain(within)) {
      const { ids, counted } = await store.plainPage(within, asked)
      return { items: await torrents.byIds(ids), page, limit, ...totalOf(counted) }
    }
    const { ids, counted, suggested } = await search(member, async (statements) => {
      const found = await statements.page(await wanted.criteria(statements), asked)
      const isMissing = found.counted === 0 && tokens.length > 0
      return { ...found, suggested: isMissing ? await suggest(statements, within, tokens) : undefined }
    })
    const listed = { items: await torrents.byIds(ids), page, limit, ...totalOf(counted, exactTotalOf(within)) }
    return suggested === undefined ? listed : { ...listed, suggestions: await torrents.byIds(suggested) }
  }

  async function facets(query: FilterQuery, member: string): Promise<Faceted> {
    const wanted = await wantedBy(query, member)
    if (wanted === undefined) return { ...totalOf(0), facets: facetsOf([], new Map()) }
    const { counted, values } = await search(member, async (statements) =>
      statements.facets(await wanted.criteria(statements)),
    )
    const total = totalOf(counted, exactTotalOf(wanted.within))
    if (!total.totalIsExact) return total
    const slugs = new Map((await deps.categories.all()).map(({ id, slug }) => [id, slug]))
    return { ...total, facets: facetsOf(values, slugs) }
  }

  /** What a member searches for; undefined if nothing can match. @throws as `filtered` does */
  async function wantedBy(query: FilterQuery, member: string) {
    const { text, without } = splitExclusions(query.search ?? '')
    const { words, prefixes } = memberWords(text)
    const tokens = [...words, ...prefixes.slice(-1)]
    // Punctuation alone contains no words, and finds nothing rather than everything.
    if (!isBlank(query.search) && tokens.length + without.length === 0) return undefined
    const allCategoryIds = await deps.categories.idsWithDeleted()
    const within = { ...(await filtered(query, member, allCategoryIds)), without }
    const criteria = async (statements: SearchStatements): Promise<Criteria> => ({
      ...within,
      ...(await wordCriteria(statements, orInitials(words, text), prefixes)),
    })
    return { within, tokens, allCategoryIds, criteria }
  }

  /** The criteria of filters, except words. @throws ApiError BAD_REQUEST for an unknown category or uploader */
  async function filtered(query: FilterQuery, member: string, allCategoryIds: readonly string[]): Promise<Criteria> {
    const { category, year, freeleech, minSize, maxSize, maxAge, alive, uploader, mine } = query
    const all = category === undefined ? [] : await deps.categories.all()
    const categoryIds = categoryIdsFor(all, category)
    const now = new Date(clock.now())
    const wanted = wantedEpisode(query)
    const ids = [idFacets({ imdb: query.imdb }), idFacets({ tmdb: query.tmdb }), idFacets({ tvdb: query.tvdb })]
    return {
      ...allOf(query.state),
      ...{ categoryIds, freeleech, minSize, maxSize },
      facets: [
        ...ids.flatMap((facets) => (facets.ids.length === 0 ? [] : [facets.ids])),
        ...(wanted === undefined ? [] : [episodeFacets(wanted)]),
        ...(year === undefined ? [] : [yearFacets(year)]),
      ],
      release: releaseOf(query),
      created: maxAge === undefined ? undefined : { after: new Date(now.getTime() - maxAge * DAY_MS), now },
      uploader: uploader === undefined ? undefined : await uploaderOf(uploader, query, member),
      alive: alive === undefined ? undefined : { hasSeeder: alive, categoryIds: categoryIds ?? allCategoryIds },
      own:
        mine === undefined
          ? undefined
          : { userId: member, state: mine, activeSince: new Date(now.getTime() - deps.peerTtlMs) },
    }
  }

  async function uploaderOf(
    username: string,
    { seesAnonymous = false }: FilterQuery,
    member: string,
  ): Promise<Criteria['uploader']> {
    const id = await store.userId(username)
    if (id === undefined) throw apiError('BAD_REQUEST', 'uploader: there is no such user.')
    return { id, withAnonymous: seesAnonymous || id === member }
  }
}

const DAY_MS = 86_400_000

function wantedEpisode({ season, episode }: ListFilters): WantedEpisode | undefined {
  if (episode !== undefined) return { kind: 'episode', season, episode }
  return season === undefined ? undefined : { kind: 'season', season }
}

function releaseOf({ resolution, source, codec, hdr, audio, language }: ListFilters): Criteria['release'] {
  return { resolution, source, codec, hdr, audio, language }
}

/** Words that can have similar ones; numbers and short words resemble too many others. */
const SIMILAR = /^[^0-9]{4,40}$/u

/** The condition of the partial index of `search_words`, which Postgres uses only if the text is identical. */
export const SIMILAR_WORDS = `'${SIMILAR.source}'`

function isSimilarWord(token: string): boolean {
  return SIMILAR.test(token)
}

/** Parts of a query that need no search. */
const UNFILTERED: ReadonlySet<string> = new Set([
  'page',
  'limit',
  'sort',
  'order',
  'state',
  'category',
  'seesAnonymous',
])

function isUnfiltered(query: ListQuery): boolean {
  const { search, ...others } = query
  return isBlank(search) && Object.entries(others).every(([name, value]) => UNFILTERED.has(name) || value === undefined)
}

function isBlank(text = ''): boolean {
  return text.trim() === ''
}

/** Replaces a prefix of few words with these words, which the index finds faster. */
async function wordCriteria(
  statements: SearchStatements,
  words: readonly AnyOf[],
  prefixes: AnyOf,
): Promise<Pick<Criteria, 'words' | 'prefixes'>> {
  if (prefixes.length === 0) return { words, prefixes }
  const known = await Promise.all(prefixes.map((prefix) => statements.wordsWithPrefix(prefix)))
  return known.includes(undefined)
    ? { words, prefixes }
    : { words: [...words, known.flatMap((found) => found ?? [])], prefixes: [] }
}

/**
 * Torrents with similar words, newest first, unless listed names contain all of these words, which means that none is a
 * typo. Tokens such as `s01e05` are searched for unchanged, and ignored if nothing matches them.
 */
async function suggest(
  statements: SearchStatements,
  within: Criteria,
  tokens: readonly string[],
): Promise<readonly string[]> {
  const words = tokens.filter(isSimilarWord)
  const found = await statements.similarWords(words)
  const areAllKnown = words.every((word, i) => found[i]?.includes(word) === true)
  if (areAllKnown && (await areListed(statements, within, words))) return []
  const similar = found.filter((alternatives) => alternatives.length > 0)
  if (similar.length === 0) return []
  const others = tokens.filter((token) => !isSimilarWord(token)).map((token) => [token])
  for (const wanted of others.length === 0 ? [similar] : [[...similar, ...others], similar]) {
    const ids = await statements.some({ ...within, words: wanted }, MAX_SUGGESTIONS)
    if (ids.length > 0) return ids
  }
  return []
}

/** Whether each word is in a listed name. The index of words also contains those of deleted names. */
async function areListed(
  statements: SearchStatements,
  { state }: Criteria,
  words: readonly string[],
): Promise<boolean> {
  for (const word of words) {
    if (!(await statements.matchesAny({ ...allOf(state), words: [[word]] }))) return false
  }
  return true
}

/** The ids of categories and their subcategories; undefined for all. @throws ApiError BAD_REQUEST for an unknown slug */
function categoryIdsFor(all: readonly Category[], slugs: readonly string[] | undefined): readonly string[] | undefined {
  const ids = slugs?.flatMap((slug) => {
    const category = findBySlug(all, slug)
    if (category === undefined) throw apiError('BAD_REQUEST', 'category: there is no such category.')
    return withSubcategories(all, category).map(({ id }) => id)
  })
  return ids && [...new Set(ids)]
}

/** The criteria of a query; undefined if no torrent can match. */
function criteriaOf(query: SearchQuery, now: Date): Criteria | undefined {
  const { ids = {}, wanted, year, freeleech, minSize, maxSize, createdAfter, categoryIds } = query
  if (categoryIds?.length === 0) return undefined
  const texts = [query.text ?? '', ...(query.words ?? [])].filter((text) => text.trim() !== '')
  const wantedWords = texts.map((text) => orInitials(searchWords(text), text))
  if (wantedWords.some((words) => words.length === 0)) return undefined
  const words = [...new Map(wantedWords.flat().map((word) => [word.join(' '), word])).values()]
  const facets = [
    ...(wanted === undefined ? [] : [episodeFacets(wanted)]),
    ...(year === undefined ? [] : [yearFacets({ from: year, to: year })]),
  ]
  return {
    ...allOf('approved'),
    ...{ categoryIds, words, facets, freeleech, minSize, maxSize },
    created: createdAfter && { after: createdAfter, now },
    ...{ ...idFacets(ids), infoHash: ids.infoHash },
  }
}
