import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type RawBuilder, sql } from 'kysely'
import { escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL } from '../pagination.ts'
import { type Criteria, exactTotalOf, isPlain } from './criteria.ts'
import type { CountedValue } from './facets.ts'
import { type Page, type SearchStatements, type SearchStore, SIMILAR_WORDS } from './search.ts'
import {
  aliveById,
  anyCategory,
  areIndexed,
  conditions,
  inYear,
  ownRows,
  rangesOf,
  SORT_COLUMNS,
  seedersOf,
} from './search-conditions.store.ts'
import { OutOfTime } from './search-queue.ts'

const MAX_SIMILAR = 3

/** Matches of which the newest are suggested. */
const SOME = 500

/** The statement took longer than its timeout (query_canceled). */
const CANCELED = '57014'

/** Torrents that a walk along a sort index reads in addition to the page: 15 ms if none of them matches. */
const WALKED = 20_000

/** Enough for an exact bitmap of a million torrents. */
const WORK_MEMORY = '16MB'

/** The newest torrents, which indicate whether matches are frequent. */
const PROBED = 600
/**
 * If this many of the probed torrents match, a walk of this many torrents counts to `MAX_EXACT_TOTAL` sooner than the GIN
 * index, which has to read all matches: from 10 % on for a single word; from 6 % on for several conditions, for which the
 * index reads more than the matches; from 20 % on within categories, where a walk merges the ranges of several indexes
 * and each torrent costs three times as much.
 */
const FREQUENT = {
  single: { probed: 60, walked: 60_000 },
  several: { probed: 36, walked: 100_000 },
  within: { probed: 120, walked: 30_000 },
} as const

/**
 * If this many of the probed torrents match within the categories and few elsewhere, filtering the matches by category
 * is faster than combining both in the index.
 */
const COMMON = 12

/** Beginnings of more words than this are left to the GIN index. */
const MAX_WORDS_OF_PREFIX = 30

const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const

type Walked = Pick<Page, 'sort' | 'order' | 'allCategoryIds'>
type Result = { ids: readonly string[]; counted: number; values?: readonly CountedValue[] | null }

/** A page, and whether the values of all matches are counted too. */
type FacetedPage = Page & { readonly withFacets?: true }

const ONLY_FACETS: FacetedPage = { ...NEWEST_FIRST, offset: 0, limit: 0, withFacets: true }

const NOTHING: Result = { ids: [], counted: 0 }

/** Tolerance for the end of a statement, since each new timeout costs a round trip. */
const LATE_MS = 50

/** Runs a statement of a search. @throws OutOfTime */
type Run = <Row>(statement: RawBuilder<Row>) => Promise<readonly Row[]>

/**
 * Searches in Postgres. There are three plans, none of which scans the catalogue if two common conditions never match
 * together:
 *
 * - a list without conditions reads an index with the same order;
 * - up to `MAX_EXACT_TOTAL` matches are read from the GIN index, then counted and sorted;
 * - more matches are probably everywhere, so a walk along the sort index finds the first ones; if it does not, all
 *   matches are sorted.
 *
 * @param searches a separate connection pool for slow searches
 */
export function createSearchStore(db: Db, searches: Db): SearchStore {
  return {
    plainPage: (criteria, page) => plainPage(db, criteria, page),

    async userId(username) {
      const { rows } = await sql<{
        id: string
      }>`select id from users where lower(username) = lower(${username})`.execute(db)
      return rows[0]?.id
    },

    async byInfoHash(infoHash) {
      const hash = Buffer.from(infoHash, 'hex')
      const row = await db
        .selectFrom('torrents')
        .select('id')
        .where((eb) => eb.or([eb('info_hash', '=', hash), eb('info_hash_v2', '=', hash)]))
        .where('deleted_at', 'is', null)
        .where('state', '=', 'approved')
        .executeTakeFirst()
      return row?.id
    },

    within: (milliseconds, work) =>
      searches.transaction().execute(async (trx) => work(statementsOf(await runWithin(trx, milliseconds)))),
  }
}

function statementsOf(run: Run): SearchStatements {
  return {
    page: (criteria, page) => filteredPage(run, criteria, page),

    async facets(criteria) {
      const { counted, values } = await filteredPage(run, criteria, ONLY_FACETS)
      return { counted, values: values ?? [] }
    },

    some: (criteria, limit) => {
      const found = sql`with found as materialized (${matches(criteria)})`
      const few = sql`(select * from found limit ${SOME}) as few`
      return idsOf(run, sql`${found} select id from ${few}`, { ...NEWEST_FIRST, offset: 0, limit })
    },

    async matchesAny(criteria) {
      const rows = await run(sql`with found as materialized (${matches(criteria)}) select from found limit 1`)
      return rows.length > 0
    },

    async wordsWithPrefix(prefix) {
      if (areIndexed([prefix])) return undefined
      const rows = await run(sql<{ word: string }>`
        select word from search_words where word like ${`${escapeLike(prefix)}%`}
        limit ${MAX_WORDS_OF_PREFIX + 1}`)
      return rows.length > MAX_WORDS_OF_PREFIX ? undefined : rows.map(({ word }) => word)
    },

    async similarWords(words) {
      const rows = await run(sql<{ similar: readonly string[] }>`
        select array(
          select word from search_words
          where word % wanted and word ~ ${sql.raw(SIMILAR_WORDS)}
          order by similarity(word, wanted) desc, word limit ${MAX_SIMILAR}
        ) as similar
        from unnest(${[...words]}::text[]) as wanted`)
      return rows.map(({ similar }) => similar)
    },
  }
}

/** Runs statements within a total time. */
async function runWithin(trx: Db, milliseconds: number): Promise<Run> {
  const end = performance.now() + milliseconds
  let allowed = milliseconds
  await setPlanner(trx, milliseconds)
  return async (statement) => {
    const left = end - performance.now()
    if (left < 1) throw new OutOfTime()
    try {
      if (allowed - left > LATE_MS) {
        allowed = left
        await sql`select set_config('statement_timeout', ${wholeMs(left)}, true)`.execute(trx)
      }
      return (await statement.execute(trx)).rows
    } catch (error) {
      throw errorCode(error) === CANCELED ? new OutOfTime('canceled', { cause: error }) : error
    }
  }
}

/**
 * Forces the plans of this transaction: ordered torrents by the index with that order, others by a bitmap of the GIN
 * index. By default the planner assumes independent conditions: it expects many matches of two that never match together,
 * and scans the table until it has found enough. It also expects to need a whole walk, and sorts the category instead.
 */
async function setPlanner(trx: Db, timeoutMs: number): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
    set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
    set_config('work_mem', ${WORK_MEMORY}, true), set_config('statement_timeout', ${wholeMs(timeoutMs)}, true)`.execute(
    trx,
  )
}

/** A timeout for Postgres, where 0 would mean no limit. */
function wholeMs(milliseconds: number): string {
  return String(Math.max(1, Math.ceil(milliseconds)))
}

async function plainPage(db: Db, criteria: Criteria, page: Page): Promise<Result> {
  const { state, categoryIds } = criteria
  const { rows } = await sql<Result>`
    select (
      select count(*) from (
        select 1 from torrents where deleted_at is null and state = ${state} and ${anyCategory(categoryIds)}
        limit ${MAX_EXACT_TOTAL + 1}
      ) as matches
    ) as counted,
    array(select id from ${walk(criteria, page, page.offset + page.limit)} ${inOrder(page)}) as ids`.execute(db)
  return rows[0] ?? NOTHING
}

async function filteredPage(run: Run, criteria: Criteria, page: FacetedPage): Promise<Result> {
  const most = exactTotalOf(criteria)
  const driver = driverOf(criteria)
  if (driver !== undefined) {
    const areMany = !isOwn(criteria) && (await countUpTo(run, driver, most)) > most
    const result = areMany ? undefined : await fewMatches(run, matches(criteria), page, most)
    if (result !== undefined && result.counted <= most) return result
    if (isOwn(criteria)) return { ids: await allSorted(run, criteria, page), counted: most + 1 }
  } else {
    const result = await countedPage(run, criteria, page, most)
    if (result !== undefined) return result
  }
  if (page.limit === 0) return { ids: [], counted: most + 1 }
  const walk = walkedTorrents(criteria, page, WALKED + 3 * (page.offset + page.limit))
  const ids = await idsOf(run, sql`select id from ${walk} where ${conditions(criteria, 'row')}`, page)
  return { ids: ids.length < page.limit ? await allSorted(run, criteria, page) : ids, counted: most + 1 }
}

/** The page if there are few matches. */
async function countedPage(run: Run, criteria: Criteria, page: FacetedPage, most: number): Promise<Result | undefined> {
  const { probed, walked } = FREQUENT[breadthOf(criteria)]
  const newest = await countUpTo(run, walkedMatches(criteria, PROBED), most)
  const far = (walked * most) / MAX_EXACT_TOTAL
  const areMany = newest >= probed && (await countUpTo(run, walkedMatches(criteria, far), most)) > most
  // The index is slow at beginnings of frequent words. Whole words reveal many matches sooner.
  if (areMany || (newest > 0 && (await haveMany(run, wholeWords(criteria), most)))) return undefined
  const areWithin = newest >= COMMON && (await areMostlyWithin(run, criteria))
  const result = await fewMatches(run, areWithin ? matchesFiltered(criteria) : matches(criteria), page, most)
  return result.counted <= most ? result : undefined
}

function breadthOf({ words, prefixes, facets, categoryIds }: Criteria): keyof typeof FREQUENT {
  if (categoryIds !== undefined) return 'within'
  const parts = words.length + facets.length + Math.min(prefixes.length, 1)
  return areIndexed(prefixes) && parts === 1 ? 'single' : 'several'
}

/** The matches among the newest torrents. */
function walkedMatches(criteria: Criteria, torrents: number): RawBuilder<unknown> {
  return sql`select 1 from ${walk(criteria, NEWEST_FIRST, torrents)} where ${conditions(criteria, 'row')}`
}

/** The number of rows, counted up to `most + 1`. */
async function countUpTo(run: Run, rows: RawBuilder<unknown>, most: number): Promise<number> {
  const [found] = await run(sql<{ counted: number }>`
    select count(*) as counted from (${rows} limit ${most + 1}) as matches`)
  return found?.counted ?? 0
}

/** The criteria with the prefixes as whole words; undefined if the index contains the prefixes. */
function wholeWords(criteria: Criteria): Criteria | undefined {
  const { prefixes, words } = criteria
  return areIndexed(prefixes) ? undefined : { ...criteria, words: [...words, prefixes], prefixes: [] }
}

async function haveMany(run: Run, criteria: Criteria | undefined, most: number): Promise<boolean> {
  if (criteria === undefined) return false
  return (await countUpTo(run, sql`select 1 from (${matches(criteria)} offset 0) as found`, most)) > most
}

/** Whether at least half of the newest matches, ignoring categories, are within the categories. */
async function areMostlyWithin(run: Run, criteria: Criteria): Promise<boolean> {
  if (criteria.categoryIds === undefined) return false
  const anywhere = { ...criteria, categoryIds: undefined }
  const rows = await run(sql<{ matching: number; within: number }>`
    select count(*) as matching, count(*) filter (where ${anyCategory(criteria.categoryIds)}) as within
    from ${walk(anywhere, NEWEST_FIRST, PROBED)} where ${conditions(anywhere, 'row')}`)
  const { matching, within } = rows[0] ?? { matching: 0, within: 0 }
  return within > 0 && within >= matching / 2
}

/** Counts the matches up to `most + 1`, and sorts them if there are not more. */
async function fewMatches(run: Run, all: RawBuilder<unknown>, page: FacetedPage, most: number): Promise<Result> {
  const values = page.withFacets ? sql`, case when counted <= ${most} then ${VALUES} end as values` : sql``
  const rows = await run(sql<Result>`
    with found as materialized (${all}),
    few as materialized (select * from found limit ${most + 1}),
    counted as materialized (select count(*) as counted from few)
    select counted, array(
      select id from few ${withStats(page)}
      where counted <= ${most} ${inOrder(page)}
    ) as ids ${values} from counted`)
  return rows[0] ?? NOTHING
}

/** The values of few matches, as JSON. */
const VALUES = sql`(
  select coalesce(json_agg(each), '[]') from (
    select facet, value, count(*) as count
    from few, lateral (select * from torrents where torrents.id = few.id offset 0) as torrent,
      lateral (values
        ('category', array[category_id::text]), ('resolution', array[resolution]), ('source', array[source]),
        ('codec', array[codec]), ('hdr', hdr), ('audio', audio), ('language', languages),
        ('year', array[release_year::text])
      ) as fields (facet, list),
      lateral unnest(list) as value
    where value is not null
    group by facet, value
  ) as each
)`

/** Sorts all matches. */
function allSorted(run: Run, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const isByYear = page.sort === 'created' && criteria.state === 'approved' && driverOf(criteria) === undefined
  if (isByYear) return sortedByYear(run, criteria, page)
  const found = sql`with found as materialized (${matches(criteria)}) select id from found ${withStats(page)}`
  return idsOf(run, found, page)
}

/** Sorts the matches of one year after the other, until the page is full. The index has the years. */
async function sortedByYear(run: Run, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const { order, offset, limit } = page
  const [range] = await run(sql<{ oldest: Date | null; newest: Date | null }>`
    select min(created_at) as oldest, max(created_at) as newest from torrents
    where deleted_at is null and state = ${criteria.state}`)
  const [oldest, newest] = [range?.oldest?.getUTCFullYear() ?? 0, range?.newest?.getUTCFullYear() ?? -1]
  const found: string[] = []
  for (let i = 0; i <= newest - oldest && found.length < offset + limit; i++) {
    const year = order === 'desc' ? newest - i : oldest + i
    const ofYear = sql`${matches({ ...criteria, alive: undefined })} and ${inYear(year)}`
    const most = offset + limit - found.length
    // Counts of peers are looked up in order, and only until there are enough.
    const rows = await run(sql<{ id: string }>`
      with found as materialized (${ofYear})
      select id from (
        select * from found order by created_at ${sql.raw(order)}, id ${sql.raw(order)} offset 0
      ) as sorted
      where ${aliveById(criteria.alive)} limit ${most}`)
    found.push(...rows.map(({ id }) => id))
  }
  return found.slice(offset)
}

/** All matches. Without a limit or an order here, the planner uses the GIN index. */
function matches(criteria: Criteria): RawBuilder<unknown> {
  const driver = driverOf(criteria)
  // The index contains only approved torrents. The others are few, and read row by row.
  const by = criteria.state === 'approved' && driver === undefined ? 'index' : 'row'
  const listed = sql`select id, created_at, size from torrents
    where deleted_at is null and state = ${criteria.state} and ${conditions(criteria, by)}`
  // `offset 0` lets Postgres look up each torrent, and not read the catalogue to join it.
  return driver === undefined
    ? listed
    : sql`select listed.* from (${driver} offset 0) as driver, lateral (${listed} and id = torrent_id offset 0) as listed`
}

function isOwn({ own }: Criteria): boolean {
  return own !== undefined && own.state !== 'unseen'
}

/** The ids of torrents to look up, if another table restricts them more than the index does. */
function driverOf(criteria: Criteria): RawBuilder<unknown> | undefined {
  const { own, alive } = criteria
  if (own !== undefined && isOwn(criteria)) return ownRows(own)
  if (alive === undefined || !isPlain({ ...criteria, alive: undefined })) return undefined
  return sql`select torrent_id from torrent_stats
    where listed_in = any(${[...alive.categoryIds]}::uuid[]) and ${seedersOf(alive)}`
}

/** The same matches, with the category as a filter instead of an index condition. */
function matchesFiltered(criteria: Criteria): RawBuilder<unknown> {
  return sql`${matches({ ...criteria, categoryIds: undefined })} and ${anyCategory(criteria.categoryIds)}`
}

function withStats(page: Page): RawBuilder<unknown> {
  return isCounted(page) ? sql`join torrent_stats on torrent_stats.torrent_id = id` : sql``
}

/**
 * The first torrents of a sort index, with the columns that conditions need; if sorted by counts, only with their ids and
 * counts. Each category has its own index range, which the planner merges.
 */
function walk(criteria: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const { state, categoryIds } = criteria
  const { sort, order } = page
  const isCount = isCounted(page)
  const by = sql`${sql.ref(SORT_COLUMNS[sort])} ${sql.raw(order)}, ${sql.ref(isCount ? 'torrent_id' : 'id')} ${sql.raw(order)}`
  const part = (category: RawBuilder<unknown>): RawBuilder<unknown> => {
    const source = isCount
      ? sql`select torrent_id as id, ${sql.ref(sort)} from torrent_stats where ${category}`
      : sql`select id, created_at, size, category_id, search, facets, info_hash, info_hash_v2, download_percent,
          uploader_id, anonymous, resolution, source, codec, hdr, audio, languages
          from torrents where deleted_at is null and state = ${state} and ${category}`
    return sql`(${source} ${sql.join(
      boundsOf(criteria, sort).map((bound) => sql`and ${bound}`),
      sql` `,
    )} order by ${by} limit ${most})`
  }
  const column = sql.ref(isCount ? 'listed_in' : 'category_id')
  const within = categoryIds ?? (isCount ? page.allCategoryIds : undefined)
  const parts = within?.map((category) => part(sql`${column} = ${category}`)) ?? [part(sql`true`)]
  const all = sql`select * from (${sql.join(parts, sql` union all `)}) as parts`
  return sql`(${all} ${inOrder({ sort, order, offset: 0, limit: most })}) as walked`
}

/** The conditions that end a walk along an index. */
function boundsOf(
  { minSize, maxSize, created, alive }: Criteria,
  sort: Walked['sort'],
): readonly RawBuilder<unknown>[] {
  switch (sort) {
    case 'created':
      return rangesOf({ created }, true)
    case 'size':
      return rangesOf({ minSize, maxSize }, true)
    case 'seeders':
      return alive === undefined ? [] : [seedersOf(alive)]
    case 'leechers':
      return []
  }
}

/** A walk with the columns that conditions need, in any order. */
function walkedTorrents(criteria: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const walked = walk(criteria, page, most)
  return isCounted(page) ? sql`${walked} join torrents using (id)` : walked
}

function isCounted({ sort }: Walked): boolean {
  return sort === 'seeders' || sort === 'leechers'
}

function inOrder({ sort, order, offset, limit }: Omit<Page, 'allCategoryIds'>): RawBuilder<unknown> {
  const direction = sql.raw(order)
  return sql`order by ${sql.ref(SORT_COLUMNS[sort])} ${direction}, id ${direction} limit ${limit} offset ${offset}`
}

async function idsOf(run: Run, query: RawBuilder<unknown>, page: Page): Promise<readonly string[]> {
  const rows = await run(sql<{ id: string }>`${query} ${inOrder(page)}`)
  return rows.map(({ id }) => id)
}
