import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type RawBuilder, sql } from 'kysely'
import { escapeLike } from '../db/like.ts'
import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL } from '../lists/total.ts'
import type { Criteria } from './criteria.ts'
import type { Page, SearchStatements, SearchStore } from './search.ts'
import { anyCategory, areIndexed, conditions, SORT_COLUMNS } from './search-conditions.store.ts'
import { OutOfTime } from './search-turns.ts'
import { SIMILAR_WORDS } from './similar-words.ts'

const MAX_SIMILAR = 3

/** The statement took longer than its timeout (query_canceled). */
const CANCELED = '57014'

/** How many torrents a walk along a sort index looks at besides the page: 15 ms where none of them matches. */
const WALKED = 20_000

/** A bitmap of a million torrents is exact within it. */
const WORK_MEMORY = '16MB'

/** How many of the newest torrents tell whether matches are frequent. */
const PROBED = 600
/**
 * Where so many of the probed ones match, a walk of so many torrents counts to `MAX_EXACT_TOTAL` sooner than the GIN
 * index, of which all matches would have to be read: from 10 % on for a single word; from 6 % on for several conditions,
 * for which the index reads more than what matches; from 20 % on within categories, where a walk merges the ranges of
 * several indexes and a torrent costs three times as much.
 */
const FREQUENT = {
  single: { probed: 60, walked: 60_000 },
  several: { probed: 36, walked: 100_000 },
  within: { probed: 120, walked: 30_000 },
} as const

/**
 * Where so many of the probed ones match within the categories, the index takes longer to combine the matches with the
 * categories than Postgres to look at the category of each, if there are not many elsewhere.
 */
const COMMON = 12

/** A beginning of more words than these is left to the GIN index. */
const MAX_WORDS_OF_PREFIX = 30

const NEWEST_FIRST: Walked = { sort: 'created', order: 'desc' }

type Walked = Pick<Page, 'sort' | 'order' | 'allCategoryIds'>
type Result = { ids: readonly string[]; counted: number }

const NOTHING: Result = { ids: [], counted: 0 }

/** A statement may end so much after the time of its search is over, since telling Postgres costs a round trip. */
const LATE_MS = 50

/** Runs a statement of a search. @throws OutOfTime */
type Run = <Row>(statement: RawBuilder<Row>) => Promise<readonly Row[]>

/**
 * Searches in Postgres. Three plans, none of which reads the catalogue because two conditions are common and never hold
 * together:
 *
 * - a list without conditions reads the index that is sorted as it is;
 * - up to `MAX_EXACT_TOTAL` matches are taken from the GIN index, then counted and sorted;
 * - of more matches, which are likely to be everywhere, a walk along the sort index finds the first ones; where it does
 *   not, all are sorted.
 *
 * @param searches connections of their own for what may take long
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

/** Runs statements that end in so many milliseconds, all of them together. */
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
 * Chooses the plans of the statements of this transaction: torrents in an order by the index that has it,
 * torrents in none by a bitmap of the GIN index. By default the planner takes conditions as independent: of two that never hold
 * together it expects many matches, and reads the table until it has met enough. Of a walk it expects that all of it is
 * needed, and sorts the category instead.
 */
async function setPlanner(trx: Db, timeoutMs: number): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
    set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
    set_config('work_mem', ${WORK_MEMORY}, true), set_config('statement_timeout', ${wholeMs(timeoutMs)}, true)`.execute(
    trx,
  )
}

/** As a setting of Postgres, for which 0 is no limit. */
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
    // The index is slow at beginnings of frequent words; whole words show sooner that there are many matches.
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

/** How many of the newest torrents match; counted to one beyond `MAX_EXACT_TOTAL`. */
async function countWalked(run: Run, criteria: Criteria, most: number): Promise<number> {
  const rows = await run(sql<{ counted: number }>`select count(*) as counted from (
    select 1 from ${walk(criteria, NEWEST_FIRST, most)} where ${conditions(criteria, 'row')} limit ${MAX_EXACT_TOTAL + 1}
  ) as matches`)
  return rows[0]?.counted ?? 0
}

/** The criteria with the prefixes as whole words; undefined where the index is not slow at prefixes. */
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

/** Whether at least half of the newest torrents that match but for the category are within the categories. */
async function areMostlyWithin(run: Run, criteria: Criteria): Promise<boolean> {
  if (criteria.categoryIds === undefined) return false
  const anywhere = { ...criteria, categoryIds: undefined }
  const rows = await run(sql<{ matching: number; within: number }>`
    select count(*) as matching, count(*) filter (where ${anyCategory(criteria.categoryIds)}) as within
    from ${walk(anywhere, NEWEST_FIRST, PROBED)} where ${conditions(anywhere, 'row')}`)
  const { matching, within } = rows[0] ?? { matching: 0, within: 0 }
  return within > 0 && within >= matching / 2
}

/** Counts the matches to one beyond the limit, and sorts them when they are not more. */
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
  // The index holds approved torrents only; the others are few, and read one by one.
  const by = criteria.state === 'approved' ? 'index' : 'row'
  return sql`select id, created_at, size from torrents
    where deleted_at is null and state = ${criteria.state} and ${conditions(criteria, by)}`
}

/** The same, of which the index finds all but the category. */
function matchesFiltered(criteria: Criteria): RawBuilder<unknown> {
  return sql`${matches({ ...criteria, categoryIds: undefined })} and ${anyCategory(criteria.categoryIds)}`
}

function withStats(page: Page): RawBuilder<unknown> {
  return isCounted(page) ? sql`join torrent_stats on torrent_stats.torrent_id = id` : sql``
}

/**
 * The first torrents of a sort index, as many as given, with what conditions are about; with their ids and what they are
 * sorted by alone where they are sorted by counts. Of several categories each has an index range of its own, which the
 * planner merges.
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

/** The same with what conditions are about, whatever they are sorted by. */
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
