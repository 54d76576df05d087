import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type RawBuilder, sql } from 'kysely'
import { escapeLike } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { totalOf } from '../pagination.ts'
import type { Criteria } from './criteria.ts'
import { aliveById, anyCategory, areIndexed, checks, conditions, ownRows } from './search-conditions.store.ts'
import {
  COUNT_LIMITS,
  type CountLimits,
  driverOf,
  examinedMatches,
  type FacetedPage,
  fewMatches,
  inOrder,
  isOwn,
  matches,
  type Result,
  type Session,
  walk,
  walkedTorrents,
  withStats,
} from './search-matches.store.ts'
import { OutOfTime } from './search-queue.ts'
import type { Page, SearchStatements, SearchStore } from './statements.ts'
import { SIMILAR_WORDS } from './suggestions.ts'

const MAX_SIMILAR = 3

/** Matches of which the newest are suggested. */
const SOME = 500

/** The newest torrents of which matches since a time are counted: a few milliseconds. */
const RECENT = 2_000

/** The statement took longer than its timeout (query_canceled). */
const CANCELED = '57014'

/** Torrents that a walk along a sort index reads in addition to the page: 15 ms if none of them matches. */
const WALKED = 20_000

/** Enough for an exact bitmap of a million torrents. */
const WORK_MEMORY = '16MB'

/** The newest torrents, which indicate whether matches are frequent. */
const PROBED = 600
/** If this many of the probed torrents match, the index finds enough matches in the newest years. */
const SPREAD = 12
/**
 * If this many of the probed torrents match, a walk of this many torrents counts to an exact total sooner than the GIN
 * index, which has to read all matches: from 10 % on for a single word; from 6 % on for several conditions, for which the
 * index reads more than the matches; from 20 % on within categories, where a walk merges the ranges of several indexes
 * and each torrent costs three times as much.
 */
const FREQUENT = {
  single: { probed: 60, walked: 60_000 },
  several: { probed: 36, walked: 100_000 },
  within: { probed: 120, walked: 30_000 },
} as const

/** If fewer than one of so many examined torrents match, looking for a page of them takes as long as counting all. */
const MIN_SHARE_PASSED = 32

/** Beginnings of more words than this are left to the GIN index. */
const MAX_WORDS_OF_PREFIX = 30

const NEWEST_FIRST = { sort: 'created', order: 'desc' } as const

const ONLY_FACETS: FacetedPage = { ...NEWEST_FIRST, offset: 0, limit: 0, withFacets: true }

/** Tolerance for the end of a statement, since each new timeout costs a round trip. */
const LATE_MS = 50

/**
 * Searches in Postgres. There are three plans, none of which scans the catalogue if two common conditions never match
 * together:
 *
 * - a list without conditions reads an index with the same order;
 * - up to 5,000 matches are read from the GIN index, then counted and sorted;
 * - more matches are probably everywhere, so a walk along the sort index finds the first ones; if it does not, all
 *   matches are sorted.
 *
 * @param searches a separate connection pool for slow searches
 */
export function createSearchStore(db: Db, searches: Db, limits: CountLimits = COUNT_LIMITS): SearchStore {
  return {
    plainPage: (criteria, page) => plainPage(db, criteria, page, limits.exactTotal),

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
      searches
        .transaction()
        .execute(async (trx) => work(statementsOf({ run: await runWithin(trx, milliseconds), limits }))),
  }
}

function statementsOf(session: Session): SearchStatements {
  const { run } = session
  return {
    page: (criteria, page) => filteredPage(session, criteria, page),

    async facets(criteria) {
      const { total, totalIsExact, values = [] } = await filteredPage(session, criteria, ONLY_FACETS)
      return { total, totalIsExact, values }
    },

    some: (criteria, limit) => {
      const found = sql`with found as materialized (${matches(criteria)})`
      const few = sql`(select * from found limit ${SOME}) as few`
      return idsOf(session, sql`${found} select id from ${few}`, { ...NEWEST_FIRST, offset: 0, limit })
    },

    async matchesAny(criteria) {
      const rows = await run(sql`with found as materialized (${matches(criteria)}) select from found limit 1`)
      return rows.length > 0
    },

    async recent(criteria) {
      const { own } = criteria
      const isOwnTorrent = own !== undefined && isOwn(criteria) ? sql`id in (${ownRows(own)})` : sql`true`
      const [found] = await run(sql<{ walked: number; count: number; newest: string | null }>`
        select count(*) as walked, count(*) filter (where matches) as count,
          (array_agg(id order by created_at desc, id desc) filter (where matches))[1] as newest
        from (
          select id, created_at, ${conditions(criteria, 'row')} and ${isOwnTorrent} as matches
          from ${walk(criteria, NEWEST_FIRST, RECENT)}
        ) as recent`)
      const { walked, count, newest } = found ?? { walked: 0, count: 0, newest: null }
      return { count, isExact: walked < RECENT, newest }
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
async function runWithin(trx: Db, milliseconds: number): Promise<Session['run']> {
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

async function plainPage(db: Db, criteria: Criteria, page: Page, exactTotal: number): Promise<Result> {
  const { state, categoryIds } = criteria
  const { rows } = await sql<{ counted: number; ids: readonly string[] }>`
    select (
      select count(*) from (
        select 1 from torrents where deleted_at is null and state = ${state} and ${anyCategory(categoryIds)}
        limit ${exactTotal + 1}
      ) as matches
    ) as counted,
    array(select id from ${walk(criteria, page, page.offset + page.limit)} ${inOrder(page)}) as ids`.execute(db)
  const { ids, counted } = rows[0] ?? { ids: [], counted: 0 }
  return { ids, ...totalOf(counted, exactTotal) }
}

async function filteredPage(session: Session, criteria: Criteria, page: FacetedPage): Promise<Result> {
  const found = await (driverOf(criteria) === undefined ? countedPage : drivenPage)(session, criteria, page)
  if (found.totalIsExact || page.limit === 0) return found
  if (isOwn(criteria)) return { ...found, ids: await allSorted(session, criteria, page) }
  const walk = walkedTorrents(criteria, page, WALKED + 3 * (page.offset + page.limit))
  const ids = await idsOf(session, sql`select id from ${walk} where ${conditions(criteria, 'row')}`, page)
  return { ...found, ids: ids.length < page.limit ? await allSorted(session, criteria, page) : ids }
}

/** The page if there are few matches, and their number, with another table that restricts them. */
async function drivenPage(session: Session, criteria: Criteria, page: FacetedPage): Promise<Result> {
  const driver = driverOf(criteria)
  const areMany = driver !== undefined && !isOwn(criteria) && (await areMore(session, driver))
  return areMany ? many(session) : fewMatches(session, matches(criteria), page)
}

/** The page if there are few matches, and their number. */
async function countedPage(session: Session, criteria: Criteria, page: FacetedPage): Promise<Result> {
  const { limits } = session
  const { probed, walked } = FREQUENT[breadthOf(criteria)]
  const newest = await countUpTo(session, walkedMatches(criteria, PROBED))
  const areMany = newest >= probed && (await areMore(session, walkedMatches(criteria, walked)))
  // The index is slow at beginnings of frequent words. Whole words reveal many matches sooner.
  if (areMany || (newest > 0 && (await haveMany(session, wholeWords(criteria))))) return many(session)
  const years = newest >= SPREAD ? await yearsOf(session, criteria) : undefined
  if (checks(criteria).length === 0) return fewMatches(session, matches(criteria, years), page)
  const examined = await fewMatches(session, examinedMatches(criteria, limits.examined, years), page)
  const { total, totalIsExact } = examined
  return totalIsExact || total >= limits.examined / MIN_SHARE_PASSED
    ? examined
    : fewMatches(session, matches(criteria, years), page)
}

/** More matches than an exact total, of which none is known yet. */
function many({ limits }: Session): Result {
  return { ids: [], ...totalOf(limits.exactTotal + 1, limits.exactTotal) }
}

function breadthOf({ words, prefixes, facets, categoryIds, alive }: Criteria): keyof typeof FREQUENT {
  if (categoryIds !== undefined || alive !== undefined) return 'within'
  const parts = words.length + facets.length + Math.min(prefixes.length, 1)
  return areIndexed(prefixes) && parts === 1 ? 'single' : 'several'
}

/** The matches among the newest torrents. */
function walkedMatches(criteria: Criteria, torrents: number): RawBuilder<unknown> {
  return sql`select 1 from ${walk(criteria, NEWEST_FIRST, torrents)} where ${conditions(criteria, 'row')}`
}

/** The number of rows, counted up to one more than an exact total. */
async function countUpTo(session: Session, rows: RawBuilder<unknown>): Promise<number> {
  const [found] = await session.run(sql<{ counted: number }>`
    select count(*) as counted from (${rows} limit ${session.limits.exactTotal + 1}) as matches`)
  return found?.counted ?? 0
}

/** Whether there are more rows than an exact total. */
async function areMore(session: Session, rows: RawBuilder<unknown>): Promise<boolean> {
  return (await countUpTo(session, rows)) > session.limits.exactTotal
}

/** The criteria with the prefixes as whole words; undefined if the index contains the prefixes. */
function wholeWords(criteria: Criteria): Criteria | undefined {
  const { prefixes, words } = criteria
  return areIndexed(prefixes) ? undefined : { ...criteria, words: [...words, prefixes], prefixes: [] }
}

async function haveMany(session: Session, criteria: Criteria | undefined): Promise<boolean> {
  return criteria !== undefined && (await areMore(session, sql`select 1 from (${matches(criteria)} offset 0) as found`))
}

/** Sorts all matches. */
function allSorted(session: Session, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const isByYear = page.sort === 'created' && criteria.state === 'approved' && driverOf(criteria) === undefined
  if (isByYear) return sortedByYear(session, criteria, page)
  const found = sql`with found as materialized (${matches(criteria)}) select id from found ${withStats(page)}`
  return idsOf(session, found, page)
}

/** Sorts the matches of one year after the other, until the page is full. The index has the years. */
async function sortedByYear(session: Session, criteria: Criteria, page: Page): Promise<readonly string[]> {
  const { order, offset, limit } = page
  const years = await yearsOf(session, criteria)
  const found: string[] = []
  for (const year of order === 'desc' ? years : years.toReversed()) {
    if (found.length >= offset + limit) break
    const ofYear = matches({ ...criteria, alive: undefined }, [year])
    const most = offset + limit - found.length
    // Counts of peers are looked up in order, and only until there are enough.
    const rows = await session.run(sql<{ id: string }>`
      with found as materialized (${ofYear})
      select id from (
        select * from found order by created_at ${sql.raw(order)}, id ${sql.raw(order)} offset 0
      ) as sorted
      where ${aliveById(criteria.alive)} limit ${most}`)
    found.push(...rows.map(({ id }) => id))
  }
  return found.slice(offset)
}

/** The years in which torrents were created that match, newest first; at least one. */
async function yearsOf({ run }: Session, { state, created }: Criteria): Promise<readonly number[]> {
  const [range] = await run(sql<{ oldest: Date | null; newest: Date | null }>`
    select min(created_at) as oldest, max(created_at) as newest from torrents
    where deleted_at is null and state = ${state}`)
  const [oldest, newest] = [range?.oldest?.getUTCFullYear() ?? 0, range?.newest?.getUTCFullYear() ?? 0]
  const first = Math.max(oldest, created?.after.getUTCFullYear() ?? oldest)
  return Array.from({ length: Math.max(1, newest - first + 1) }, (_, i) => newest - i)
}

async function idsOf(session: Session, query: RawBuilder<unknown>, page: Page): Promise<readonly string[]> {
  const rows = await session.run(sql<{ id: string }>`${query} ${inOrder(page)}`)
  return rows.map(({ id }) => id)
}
