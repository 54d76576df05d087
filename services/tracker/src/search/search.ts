import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { WantedEpisode } from '@vault-and-tracker/torznab-xml'
import { type Category, findBySlug, withSubcategories } from '../categories/categories.ts'
import { apiError, isApiError } from '../errors.ts'
import { MAX_OFFSET, totalOf } from '../pagination.ts'
import { memberWords, orInitials, searchWords, splitExclusions } from '../releases/search-words.ts'
import type { CatalogueCache } from './catalogue-state.ts'
import {
  allOf,
  type Criteria,
  episodeFacets,
  idFacets,
  isPlain,
  type Marks,
  tmdbCategoryIds,
  yearFacets,
} from './criteria.ts'
import { facetsOf } from './facets.ts'
import type { ListedTorrent, ListedTorrents } from './listed-torrent.ts'
import type { Faceted, FilterQuery, Found, ListFilters, ListQuery, SearchQuery, TorrentPage } from './queries.ts'
import { createCoalescer, type SearchQueue } from './search-queue.ts'
import type { Page, RecentMatches, SearchStatements, SearchStore } from './statements.ts'
import { suggest, wordCriteria } from './suggestions.ts'

/** A search whose matches after a time are counted. */
export type RecentQuery = {
  readonly id: string
  readonly filters: ListFilters
  readonly after: Date
  /** Now by default. */
  readonly until?: Date
}

export type Search = ReturnType<typeof createSearch>

const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const

/**
 * Finds torrents for the lists and searches of the REST API and the Torznab API. Concurrent requests for the same page
 * share a search.
 */
export function createSearch(deps: {
  store: SearchStore
  queue: SearchQueue
  torrents: ListedTorrents
  catalogue: CatalogueCache
  clock: Clock
  /** A peer whose last announce is older is not seeding. */
  peerTtlMs: number
}) {
  const { store, queue, torrents, catalogue, clock } = deps
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
      // A search that waits in the queue is shared only within one member, so that nobody uses up the turns of others.
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

    /**
     * Whether an approved torrent matches; not if the category or uploader of the filters does not exist. Throws as `find`
     * does.
     *
     * @param member the id of the user who searches
     * @param holder whose queue is used
     */
    matches: (filters: ListFilters, infoHash: string, member: string, holder = member): Promise<boolean> =>
      queue.admit(holder, async () => {
        try {
          const wanted = await wantedBy({ ...filters, state: 'approved' }, member)
          if (wanted === undefined) return false
          return await search(holder, async (statements) =>
            statements.matchesAny({ ...(await wanted.criteria(statements)), infoHash }),
          )
        } catch (error) {
          if (isApiError(error) && error.code === 'BAD_REQUEST') return false
          throw error
        }
      }),

    /**
     * The number of approved torrents that match and were created after a time, for several searches by id. Leaves out those
     * whose category or uploader does not exist. Throws as `find` does.
     *
     * @param member the id of the user who searches
     * @param holder whose queue is used
     */
    recent: (
      searches: readonly RecentQuery[],
      member: string,
      holder = member,
    ): Promise<ReadonlyMap<string, RecentMatches>> =>
      queue.admit(holder, async () => {
        const wanted = await Promise.all(searches.map((each) => recentlyWanted(each, member)))
        return search(holder, async (statements) => {
          const found = new Map<string, RecentMatches>()
          for (const each of wanted) if (each !== undefined) found.set(each.id, await each.count(statements))
          return found
        })
      }),
  }

  async function recentlyWanted({ id, filters, after, until }: RecentQuery, member: string) {
    try {
      const wanted = await wantedBy({ ...filters, state: 'approved' }, member)
      if (wanted === undefined) return { id, count: () => Promise.resolve({ count: 0, isExact: true, newest: null }) }
      const now = new Date(clock.now())
      const oldest = wanted.within.created?.after ?? after
      const created = { after: oldest > after ? oldest : after, until, now }
      return {
        id,
        count: async (statements: SearchStatements) =>
          statements.recent({ ...(await wanted.criteria(statements)), created }),
      }
    } catch (error) {
      if (isApiError(error) && error.code === 'BAD_REQUEST') return undefined
      throw error
    }
  }

  async function find(criteria: Criteria, page: Page, member: string): Promise<Found> {
    const { ids, ...total } = isPlain(criteria)
      ? await store.plainPage(criteria, page)
      : await search(member, (statements) => statements.page(criteria, page))
    return { items: await torrents.byIds(ids), ...total }
  }

  async function list(query: ListQuery, member: string): Promise<TorrentPage> {
    const { page, limit, sort, order } = query
    const wanted = await wantedBy(query, member)
    if (wanted === undefined) return { items: [], page, limit, ...totalOf(0) }
    const { within, tokens, allCategoryIds } = wanted
    const asked = { sort, order, offset: (page - 1) * limit, limit, allCategoryIds }
    if (tokens.length === 0 && isPlain(within)) {
      const { ids, ...total } = await store.plainPage(within, asked)
      return { items: await torrents.byIds(ids), page, limit, ...total }
    }
    const { ids, suggested, ...total } = await search(member, async (statements) => {
      const found = await statements.page(await wanted.criteria(statements), asked)
      const isMissing = found.totalIsExact && found.total === 0 && tokens.length > 0
      return { ...found, suggested: isMissing ? await suggest(statements, within, tokens) : undefined }
    })
    const listed = { items: await torrents.byIds(ids), page, limit, ...total }
    return suggested === undefined ? listed : { ...listed, suggestions: await torrents.byIds(suggested) }
  }

  async function facets(query: FilterQuery, member: string): Promise<Faceted> {
    const wanted = await wantedBy(query, member)
    if (wanted === undefined) return { ...totalOf(0), facets: facetsOf([], new Map()) }
    const { values, ...total } = await search(member, async (statements) =>
      statements.facets(await wanted.criteria(statements)),
    )
    if (!total.totalIsExact) return total
    const { categories } = await catalogue.current()
    const slugs = new Map(categories.map(({ id, slug }) => [id, slug]))
    return { ...total, facets: facetsOf(values, slugs) }
  }

  /** What a member searches for; undefined if nothing can match. @throws as `filtered` does */
  async function wantedBy(query: FilterQuery, member: string) {
    const { text, without } = splitExclusions(query.search ?? '')
    const { words, prefixes } = memberWords(text)
    const tokens = [...words, ...prefixes.slice(-1)]
    // Punctuation alone contains no words, and finds nothing rather than everything.
    if (!isBlank(query.search) && tokens.length + without.length === 0) return undefined
    const { categories, categoryIds: allCategoryIds } = await catalogue.current()
    const within = { ...(await filtered(query, member, categories, allCategoryIds)), without }
    const criteria = async (statements: SearchStatements): Promise<Criteria> => ({
      ...within,
      ...(await wordCriteria(statements, orInitials(words, text), prefixes)),
    })
    return { within, tokens, allCategoryIds, criteria }
  }

  /** The criteria of filters, except words. @throws ApiError BAD_REQUEST for an unknown category or uploader */
  async function filtered(
    query: FilterQuery,
    member: string,
    categories: readonly Category[],
    allCategoryIds: readonly string[],
  ): Promise<Criteria> {
    const { category, year, minSize, maxSize, maxAge, alive, uploader, mine } = query
    const categoryIds = categoryIdsFor(categories, category)
    const now = new Date(clock.now())
    const wanted = wantedEpisode(query)
    const { id: tmdb, kind } = query.tmdb ?? {}
    const { idWithin, ...tmdbFacets } = idFacets({ tmdb, tmdbCategoryIds: kind && tmdbCategoryIds(kind, categories) })
    const ids = [idFacets({ imdb: query.imdb }), tmdbFacets, idFacets({ tvdb: query.tvdb })]
    return {
      ...allOf(query.state),
      ...{ categoryIds, marks: marksOf(query), minSize, maxSize },
      facets: [
        ...ids.flatMap((facets) => (facets.ids.length === 0 ? [] : [facets.ids])),
        ...(wanted === undefined ? [] : [episodeFacets(wanted)]),
        ...(year === undefined ? [] : [yearFacets(year)]),
      ],
      idWithin,
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

function marksOf({ freeleech, internal, scene }: Marks): Marks {
  return { freeleech, internal, scene }
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
  const { ids = {}, wanted, year, minSize, maxSize, createdAfter, categoryIds } = query
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
    ...{ categoryIds, words, facets, marks: marksOf(query), minSize, maxSize },
    created: createdAfter && { after: createdAfter, now },
    ...idFacets(ids),
  }
}
