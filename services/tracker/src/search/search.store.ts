import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { MAX_EXACT_TOTAL } from '../lists/total.ts'
import { type Criteria, isPlain } from './criteria.ts'
import type { Page, SearchStore } from './search.ts'
import { anyCategory, conditions, SORT_COLUMNS } from './search-conditions.store.ts'

const MAX_SIMILAR = 3

/** How many torrents a walk along a sort index looks at besides the page: 15 ms where none of them matches. */
const WALKED = 20_000

/** A bitmap of a million torrents is exact within it. */
const WORK_MEMORY = '16MB'

/** Of so many of the newest torrents, so many are 8 %, above which a walk counts faster than the GIN index. */
const PROBED = 600
const FREQUENT = 48
const COUNTED = 75_000

const NEWEST_FIRST: Walked = { sort: 'created', order: 'desc' }

type Walked = Pick<Page, 'sort' | 'order' | 'allCategoryIds'>
type Result = { ids: readonly string[]; counted: number }

/**
 * Searches in Postgres. Three plans, none of which reads the catalogue because two conditions are common and never hold
 * together:
 *
 * - a list without conditions reads the index that is sorted as it is;
 * - up to `MAX_EXACT_TOTAL` matches are taken from the GIN index, then counted and sorted;
 * - of more matches, which are likely to be everywhere, a walk along the sort index finds the first ones; where it does
 *   not, all are sorted.
 */
export function createSearchStore(db: Db): SearchStore {
  return {
    page: (criteria, page) => (isPlain(criteria) ? plainPage(db, criteria, page) : filteredPage(db, criteria, page)),

    some: (criteria, limit) =>
      db.transaction().execute(async (trx) => {
        await plan(trx, 'bitmap')
        const found = sql`with found as materialized (${matches(criteria)})`
        const few = sql`(select * from found limit ${MAX_EXACT_TOTAL}) as few`
        return idsOf(trx, sql`${found} select id from ${few}`, { ...NEWEST_FIRST, offset: 0, limit })
      }),

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

    async similarWords(words) {
      const { rows } = await sql<{ similar: readonly string[] }>`
        select array(
          select word from search_words
          where word % wanted
          order by similarity(word, wanted) desc, word limit ${MAX_SIMILAR}
        ) as similar
        from unnest(${[...words]}::text[]) as wanted`.execute(db)
      return rows.map(({ similar }) => similar)
    },
  }
}

async function plainPage(db: Db, criteria: Criteria, page: Page): Promise<Result> {
  const { state, categoryIds } = criteria
  const [{ rows: counts }, ids] = await Promise.all([
    sql<{ counted: number }>`
      select count(*) as counted from (
        select 1 from torrents where deleted_at is null and state = ${state} and ${anyCategory(categoryIds)}
        limit ${MAX_EXACT_TOTAL + 1}
      ) as matches`.execute(db),
    page.limit === 0 ? [] : idsOf(db, sql`select id ${walk(criteria, page, page.offset + page.limit)}`, page),
  ])
  return { ids, counted: counts[0]?.counted ?? 0 }
}

function filteredPage(db: Db, criteria: Criteria, page: Page): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    await plan(trx, 'walk')
    if (!(await areEverywhere(trx, criteria))) {
      await plan(trx, 'bitmap')
      // The index is slow at beginnings of frequent words; that there are many matches, whole words tell sooner.
      if (!(await haveMany(trx, wholeWords(criteria)))) {
        const result = await fewMatches(trx, criteria, page)
        if (result.counted <= MAX_EXACT_TOTAL) return result
      }
      await plan(trx, 'walk')
    }
    if (page.limit === 0) return { ids: [], counted: MAX_EXACT_TOTAL + 1 }
    const walked = sql`select id ${walk(criteria, page, WALKED + 3 * (page.offset + page.limit))}`
    const ids = await idsOf(trx, sql`${walked} where ${conditions(criteria)}`, page)
    if (ids.length === page.limit) return { ids, counted: MAX_EXACT_TOTAL + 1 }
    await plan(trx, 'bitmap')
    return { ids: await allSorted(trx, criteria, page), counted: MAX_EXACT_TOTAL + 1 }
  })
}

/**
 * Whether there are more matches than are counted, for matches so frequent that a walk finds this out sooner than the
 * GIN index, of which all would have to be read.
 */
async function areEverywhere(trx: Db, criteria: Criteria): Promise<boolean> {
  const count = async (walked: number, most: number): Promise<number> => {
    const { rows } = await sql<{ counted: number }>`select count(*) as counted from (
      select 1 ${walk(criteria, NEWEST_FIRST, walked)} where ${conditions(criteria)} limit ${most}
    ) as matches`.execute(trx)
    return rows[0]?.counted ?? 0
  }
  if ((await count(PROBED, PROBED)) < FREQUENT) return false
  return (await count(COUNTED, MAX_EXACT_TOTAL + 1)) > MAX_EXACT_TOTAL
}

/**
 * Chooses how Postgres goes about the statements that follow in this transaction. Left alone, it takes conditions as
 * independent: of two that never hold together it expects many matches, and reads the table until it has met enough.
 * Of a walk it expects that all of it is needed, and sorts the category instead.
 */
async function plan(trx: Db, how: 'bitmap' | 'walk'): Promise<void> {
  const ofWalk = how === 'walk' ? 'off' : 'on'
  await sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true), set_config('enable_sort', ${ofWalk}, true),
    set_config('enable_bitmapscan', ${ofWalk}, true), set_config('work_mem', ${WORK_MEMORY}, true)`.execute(trx)
}

/** The criteria with the prefix as a whole word; undefined without a prefix. */
function wholeWords(criteria: Criteria): Criteria | undefined {
  const { prefix, words } = criteria
  return prefix === undefined ? undefined : { ...criteria, words: [...words, [prefix]], prefix: undefined }
}

async function haveMany(trx: Db, criteria: Criteria | undefined): Promise<boolean> {
  if (criteria === undefined) return false
  const { rows } = await sql<{ counted: number }>`
    with found as materialized (${matches(criteria)})
    select count(*) as counted from (select 1 from found limit ${MAX_EXACT_TOTAL + 1}) as few`.execute(trx)
  return (rows[0]?.counted ?? 0) > MAX_EXACT_TOTAL
}

/** Counts the matches to one beyond the limit, and sorts them when they are not more. */
async function fewMatches(trx: Db, criteria: Criteria, page: Page): Promise<Result> {
  const { rows } = await sql<{ counted: number; ids: readonly string[] }>`
    with found as materialized (${matches(criteria)}),
    few as materialized (select * from found limit ${MAX_EXACT_TOTAL + 1}),
    counted as materialized (select count(*) as counted from few)
    select counted, array(
      select id from few ${withStats(page)}
      where counted <= ${MAX_EXACT_TOTAL} ${inOrder(page)}
    ) as ids from counted`.execute(trx)
  return rows[0] ?? { ids: [], counted: 0 }
}

/** Sorts all matches. */
function allSorted(trx: Db, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const found = sql`with found as materialized (${matches(criteria)}) select id from found ${withStats(page)}`
  return idsOf(trx, found, page)
}

/** All matches. Without a limit or an order here, the planner has no reason to look elsewhere than in the GIN index. */
function matches(criteria: Criteria): RawBuilder<unknown> {
  return sql`select id, created_at, size from torrents
    where deleted_at is null and state = ${criteria.state} and ${conditions(criteria)}`
}

function withStats({ sort }: Page): RawBuilder<unknown> {
  return sort === 'seeders' || sort === 'leechers' ? sql`join torrent_stats on torrent_stats.torrent_id = id` : sql``
}

/**
 * The first torrents of a sort index, as many as given. Of several categories each has an index range of its own, which
 * the planner merges.
 */
function walk({ state, categoryIds }: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const { sort, order } = page
  const by = sql`${sql.ref(SORT_COLUMNS[sort])} ${sql.raw(order)}`
  const isCount = sort === 'seeders' || sort === 'leechers'
  const id = sql.ref(isCount ? 'torrent_id' : 'id')
  const part = (category: RawBuilder<unknown>): RawBuilder<unknown> => {
    const source = isCount
      ? sql`select torrent_id, ${sql.ref(sort)} from torrent_stats where ${category}`
      : sql`select id, created_at, size, search, facets, info_hash, info_hash_v2
          from torrents where deleted_at is null and state = ${state} and ${category}`
    return sql`(${source} order by ${by}, ${id} ${sql.raw(order)} limit ${most})`
  }
  const column = sql.ref(isCount ? 'listed_in' : 'category_id')
  const within = categoryIds ?? (isCount ? page.allCategoryIds : undefined)
  const parts = within?.map((category) => part(sql`${column} = ${category}`)) ?? [part(sql`true`)]
  const all = sql`(select * from (${sql.join(parts, sql` union all `)}) as parts
    order by ${by}, ${id} ${sql.raw(order)} limit ${most})`
  return isCount
    ? sql`from ${all} as walked join torrents on torrents.id = walked.torrent_id`
    : sql`from ${all} as walked`
}

function inOrder({ sort, order, offset, limit }: Page): RawBuilder<unknown> {
  const direction = sql.raw(order)
  return sql`order by ${sql.ref(SORT_COLUMNS[sort])} ${direction}, id ${direction} limit ${limit} offset ${offset}`
}

async function idsOf(db: Db, query: RawBuilder<unknown>, page: Page): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`${query} ${inOrder(page)}`.execute(db)
  return rows.map(({ id }) => id)
}
