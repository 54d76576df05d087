import type { WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { type Categories, type Category, findBySlug, withSubcategories } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import { type Listed, MAX_OFFSET, type Page as PageNumber, type Total, totalOf } from '../pagination.ts'
import { memberWords, orInitials, searchWords } from '../releases/search-words.ts'
import { type AnyOf, allOf, type Criteria, episodeFacets, idFacets, isPlain, yearFacets } from './criteria.ts'
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

/** The query of a list or of a member's search. */
export type ListQuery = PageNumber & {
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
  readonly state: TorrentState
  /** The slug of a category, which includes its subcategories. */
  readonly category?: string | undefined
  /** Words of the name in any order; the last one can be the beginning of a word. */
  readonly search?: string | undefined
}

/** A page of a list. `suggestions` are torrents with similar words, if a search found nothing. */
export type TorrentPage = Listed<ListedTorrent> & { readonly suggestions?: readonly ListedTorrent[] | undefined }

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
  /** The id of an approved torrent by either info hash, in lowercase hex. */
  byInfoHash(infoHash: string): Promise<string | undefined>
  /** Runs the statements of a search within a total time. @throws OutOfTime */
  within<T>(milliseconds: number, work: (statements: SearchStatements) => Promise<T>): Promise<T>
}

/** The ids of a page, and the number of all matches, counted up to `MAX_EXACT_TOTAL + 1`. */
type FoundIds = { readonly ids: readonly string[]; readonly counted: number }

/** The statements of a search. */
export type SearchStatements = {
  page(criteria: Criteria, page: Page): Promise<FoundIds>
  /** The ids of some matches, newest first. Fast, but not the newest of all if there are many. */
  some(criteria: Criteria, limit: number): Promise<readonly string[]>
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
}) {
  const { store, queue, torrents } = deps
  const finds = createCoalescer<Found>()
  const lists = createCoalescer<TorrentPage>()

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
      const criteria = criteriaOf(query)
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
     * @throws ApiError BAD_REQUEST if the category does not exist; and as `find` does
     */
    list: (query: ListQuery, member: string): Promise<TorrentPage> => {
      const isFree = isBlank(query.search)
      const shared = () => lists(JSON.stringify([query, isFree ? '' : member]), () => list(query, member))
      return isFree ? shared() : queue.admit(member, shared)
    },
  }

  async function find(criteria: Criteria, page: Page, member: string): Promise<Found> {
    const { ids, counted } = isPlain(criteria)
      ? await store.plainPage(criteria, page)
      : await search(member, (statements) => statements.page(criteria, page))
    return { items: await torrents.byIds(ids), ...totalOf(counted) }
  }

  async function list(query: ListQuery, member: string): Promise<TorrentPage> {
    const { page, limit, sort, order } = query
    const text = query.search ?? ''
    const { words, prefixes } = memberWords(text)
    const tokens = [...words, ...prefixes.slice(-1)]
    // Punctuation alone contains no words, and finds nothing rather than everything.
    if (!isBlank(text) && tokens.length === 0) return { items: [], page, limit, ...totalOf(0) }
    const all = query.category === undefined ? [] : await deps.categories.all()
    const allCategoryIds = sort === 'created' || sort === 'size' ? [] : await deps.categories.idsWithDeleted()
    const within = { ...allOf(query.state), categoryIds: categoryIdsFor(all, query.category) }
    const asked = { sort, order, offset: (page - 1) * limit, limit, allCategoryIds }
    if (tokens.length === 0) {
      const { ids, counted } = await store.plainPage(within, asked)
      return { items: await torrents.byIds(ids), page, limit, ...totalOf(counted) }
    }
    const { ids, counted, suggested } = await search(member, async (statements) => {
      const criteria = { ...within, ...(await wordCriteria(statements, orInitials(words, text), prefixes)) }
      const found = await statements.page(criteria, asked)
      return { ...found, suggested: found.counted === 0 ? await suggest(statements, within, tokens) : undefined }
    })
    const listed = { items: await torrents.byIds(ids), page, limit, ...totalOf(counted) }
    return suggested === undefined ? listed : { ...listed, suggestions: await torrents.byIds(suggested) }
  }
}

/** Words that can have similar ones; numbers and short words resemble too many others. */
const SIMILAR = /^[^0-9]{4,40}$/u

/** The condition of the partial index of `search_words`, which Postgres uses only if the text is identical. */
export const SIMILAR_WORDS = `'${SIMILAR.source}'`

function isSimilarWord(token: string): boolean {
  return SIMILAR.test(token)
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
    const listed = await statements.some({ ...allOf(state), words: [[word]] }, 1)
    if (listed.length === 0) return false
  }
  return true
}

/** The ids of a category and its subcategories; undefined for all. @throws ApiError BAD_REQUEST for an unknown slug */
function categoryIdsFor(all: readonly Category[], slug: string | undefined): readonly string[] | undefined {
  if (slug === undefined) return undefined
  const category = findBySlug(all, slug)
  if (category === undefined) throw apiError('BAD_REQUEST', 'category: there is no such category.')
  return withSubcategories(all, category).map(({ id }) => id)
}

/** The criteria of a query; undefined if no torrent can match. */
function criteriaOf(query: SearchQuery): Criteria | undefined {
  const { ids = {}, wanted, year, freeleech, minSize, maxSize, createdAfter, categoryIds } = query
  if (categoryIds?.length === 0) return undefined
  const texts = [query.text ?? '', ...(query.words ?? [])].filter((text) => text.trim() !== '')
  const wantedWords = texts.map((text) => orInitials(searchWords(text), text))
  if (wantedWords.some((words) => words.length === 0)) return undefined
  const words = [...new Map(wantedWords.flat().map((word) => [word.join(' '), word])).values()]
  const facets = [
    ...(wanted === undefined ? [] : [episodeFacets(wanted)]),
    ...(year === undefined ? [] : [yearFacets(year)]),
  ]
  return {
    ...allOf('approved'),
    ...{ categoryIds, words, facets, freeleech, minSize, maxSize, createdAfter },
    ...{ ...idFacets(ids), infoHash: ids.infoHash },
  }
}
