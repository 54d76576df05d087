import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type RawBuilder, sql } from 'kysely'
import { escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL } from '../pagination.ts'
import type { Criteria } from './criteria.ts'
import { type Page, type SearchStatements, type SearchStore, SIMILAR_WORDS } from './search.ts'
import { anyCategory, areIndexed, conditions, SORT_COLUMNS } from './search-conditions.store.ts'
import { OutOfTime } from './search-queue.ts'

const MAX_SIMILAR = 3

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

const NEWEST_FIRST: Walked = { sort: 'created', order: 'desc' }

type Walked = Pick<Page, 'sort' | 'order' | 'allCategoryIds'>
type Result = { ids: readonly string[]; counted: number }

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

    some: (criteria, limit) => {
      const found = sql`with found as materialized (${matches(criteria)})`
      const few = sql`(select * from found limit ${MAX_EXACT_TOTAL}) as few`
      return idsOf(run, sql`${found} select id from ${few}`, { ...NEWEST_FIRST, offset: 0, limit })
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

async function filteredPage(run: Run, criteria: Criteria, page: Page): Promise<Result> {
  const { probed, walked } = FREQUENT[breadthOf(criteria)]
  const newest = await countWalked(run, criteria, PROBED)
  if (newest < probed || (await countWalked(run, criteria, walked)) <= MAX_EXACT_TOTAL) {
    // The index is slow at beginnings of frequent words. Whole words reveal many matches sooner.
    if (newest === 0 || !(await haveMany(run, wholeWords(criteria)))) {
      const areWithin = newest >= COMMON && (await areMostlyWithin(run, criteria))
      const result = await fewMatches(run, areWithin ? matchesFiltered(criteria) : matches(criteria), page)
      if (result.counted <= MAX_EXACT_TOTAL) return result
    }
  }
  if (page.limit === 0) return { ids: [], counted: MAX_EXACT_TOTAL + 1 }
  const walk = walkedTorrents(criteria, page, WALKED + 3 * (page.offset + page.limit))
  const ids = await idsOf(run, sql`select id from ${walk} where ${conditions(criteria, 'row')}`, page)
  if (ids.length < page.limit) return { ids: await allSorted(run, criteria, page), counted: MAX_EXACT_TOTAL + 1 }
  return { ids, counted: MAX_EXACT_TOTAL + 1 }
}

function breadthOf({ words, prefixes, facets, categoryIds }: Criteria): keyof typeof FREQUENT {
  if (categoryIds !== undefined) return 'within'
  const parts = words.length + facets.length + Math.min(prefixes.length, 1)
  return areIndexed(prefixes) && parts === 1 ? 'single' : 'several'
}

/** The number of matches among the newest torrents, counted up to `MAX_EXACT_TOTAL + 1`. */
async function countWalked(run: Run, criteria: Criteria, most: number): Promise<number> {
  const rows = await run(sql<{ counted: number }>`select count(*) as counted from (
    select 1 from ${walk(criteria, NEWEST_FIRST, most)} where ${conditions(criteria, 'row')} limit ${MAX_EXACT_TOTAL + 1}
  ) as matches`)
  return rows[0]?.counted ?? 0
}

/** The criteria with the prefixes as whole words; undefined if the index contains the prefixes. */
function wholeWords(criteria: Criteria): Criteria | undefined {
  const { prefixes, words } = criteria
  return areIndexed(prefixes) ? undefined : { ...criteria, words: [...words, prefixes], prefixes: [] }
}

async function haveMany(run: Run, criteria: Criteria | undefined): Promise<boolean> {
  if (criteria === undefined) return false
  const rows = await run(sql<{ counted: number }>`
    with found as materialized (${matches(criteria)})
    select count(*) as counted from (select 1 from found limit ${MAX_EXACT_TOTAL + 1}) as few`)
  return (rows[0]?.counted ?? 0) > MAX_EXACT_TOTAL
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

/** Counts the matches up to `MAX_EXACT_TOTAL + 1`, and sorts them if there are not more. */
async function fewMatches(run: Run, all: RawBuilder<unknown>, page: Page): Promise<Result> {
  const rows = await run(sql<{ counted: number; ids: readonly string[] }>`
    with found as materialized (${all}),
    few as materialized (select * from found limit ${MAX_EXACT_TOTAL + 1}),
    counted as materialized (select count(*) as counted from few)
    select counted, array(
      select id from few ${withStats(page)}
      where counted <= ${MAX_EXACT_TOTAL} ${inOrder(page)}
    ) as ids from counted`)
  return rows[0] ?? NOTHING
}

/** Sorts all matches. */
function allSorted(run: Run, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const found = sql`with found as materialized (${matches(criteria)}) select id from found ${withStats(page)}`
  return idsOf(run, found, page)
}

/** All matches. Without a limit or an order here, the planner uses the GIN index. */
function matches(criteria: Criteria): RawBuilder<unknown> {
  // The index contains only approved torrents. The others are few, and read row by row.
  const by = criteria.state === 'approved' ? 'index' : 'row'
  return sql`select id, created_at, size from torrents
    where deleted_at is null and state = ${criteria.state} and ${conditions(criteria, by)}`
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
function walk({ state, categoryIds }: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const { sort, order } = page
  const isCount = isCounted(page)
  const by = sql`${sql.ref(SORT_COLUMNS[sort])} ${sql.raw(order)}, ${sql.ref(isCount ? 'torrent_id' : 'id')} ${sql.raw(order)}`
  const part = (category: RawBuilder<unknown>): RawBuilder<unknown> => {
    const source = isCount
      ? sql`select torrent_id as id, ${sql.ref(sort)} from torrent_stats where ${category}`
      : sql`select id, created_at, size, category_id, search, facets, info_hash, info_hash_v2, download_percent
          from torrents where deleted_at is null and state = ${state} and ${category}`
    return sql`(${source} order by ${by} limit ${most})`
  }
  const column = sql.ref(isCount ? 'listed_in' : 'category_id')
  const within = categoryIds ?? (isCount ? page.allCategoryIds : undefined)
  const parts = within?.map((category) => part(sql`${column} = ${category}`)) ?? [part(sql`true`)]
  const all = sql`select * from (${sql.join(parts, sql` union all `)}) as parts`
  return sql`(${all} ${inOrder({ sort, order, offset: 0, limit: most })}) as walked`
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
