import { type RawBuilder, sql } from 'kysely'
import { MAX_EXACT_TOTAL, totalOf } from '../pagination.ts'
import { type Criteria, isPlain } from './criteria.ts'
import type { CountedValue } from './facets.ts'
import {
  allOf,
  anyCategory,
  checks,
  indexed,
  isIndexed,
  ownRows,
  rangesOf,
  seedersOf,
  singleRangeOf,
} from './search-conditions.store.ts'
import { inOrder, isCounted, walk } from './search-walks.store.ts'
import type { FoundIds, Page } from './statements.ts'

/** A sample of some 1,000 of a million torrents takes a millisecond. */
const SAMPLED_PERCENT = 0.1
/** How many entries the index reads in the time that reading a row takes. */
const ENTRIES_PER_ROW = 30

/** How far matches are counted. */
export type CountLimits = {
  /** Totals are exact up to here. */
  readonly exactTotal: number
  /** Torrents that are checked row by row to count matches. */
  readonly examined: number
}

/** Checking so many takes up to 30 ms. */
export const COUNT_LIMITS: CountLimits = { exactTotal: MAX_EXACT_TOTAL, examined: 8_000 }

/** A page of matches; `values` only if they are counted. */
export type Result = FoundIds & { readonly values?: readonly CountedValue[] }
/** Matches as counted; `isCut` if not all of them were examined, null without any. */
type Counted = {
  readonly ids: readonly string[]
  readonly counted: number
  readonly isCut: boolean | null
  readonly values?: readonly CountedValue[] | null
}

/** A page, and whether the values of all matches are counted too. */
export type FacetedPage = Page & { readonly withFacets?: true }

/** The statements of a search, and how far they count. */
export type Session = {
  /** @throws OutOfTime */
  readonly run: <Row>(statement: RawBuilder<Row>) => Promise<readonly Row[]>
  readonly limits: CountLimits
}

const NOTHING: Counted = { ids: [], counted: 0, isCut: false }

/**
 * Whether categories, size and time are cheaper to check row by row than in the index. A sample of the catalogue tells how
 * many rows that would read, and how many entries the index has in these ranges.
 */
export async function areRangesChecked({ run, limits }: Session, criteria: Criteria): Promise<boolean> {
  const { categoryIds, minSize, maxSize, created } = criteria
  const others = withoutRanges(criteria)
  const ranges = [
    ...(categoryIds === undefined ? [] : [anyCategory(categoryIds)]),
    ...rangesOf({ minSize, maxSize, created }, false),
  ]
  if (ranges.length === 0 || !isIndexed(others)) return false
  const matching = indexed(others, 'row')
  const [sample] = await run(sql<{ matching: number; within: number; entries: number }>`
    select count(*) filter (where ${matching}) as matching,
      count(*) filter (where ${matching} and ${allOf(ranges)}) as within,
      ${sql.join(
        ranges.map((range) => sql`count(*) filter (where ${range})`),
        sql` + `,
      )} as entries
    from torrents tablesample system (${SAMPLED_PERCENT}) repeatable (0)
    where deleted_at is null and state = ${criteria.state}`)
  if (sample === undefined) return false
  const scale = 100 / SAMPLED_PERCENT
  const rows = Math.min(
    (sample.matching + 3) * scale,
    (limits.exactTotal * sample.matching) / sample.within || Infinity,
  )
  return rows * ENTRIES_PER_ROW < sample.entries * scale
}

function withoutRanges(criteria: Criteria): Criteria {
  return { ...criteria, categoryIds: undefined, minSize: undefined, maxSize: undefined, created: undefined }
}

/** Counts the matches up to one more than an exact total, and sorts them if there are not more. */
export async function fewMatches(session: Session, all: RawBuilder<unknown>, page: FacetedPage): Promise<Result> {
  const { exactTotal, examined } = session.limits
  const values = page.withFacets ? sql`, case when counted <= ${exactTotal} then ${VALUES} end as values` : sql``
  const [found] = await session.run(sql<Counted>`
    with found as materialized (${all}),
    few as materialized (select * from found limit ${exactTotal + 1}),
    counted as materialized (
      select count(*) filter (where place <= ${examined}) as counted, max(place) > ${examined} as "isCut" from few
    )
    select counted, "isCut", array(
      select id from few ${withStats(page)}
      where counted <= ${exactTotal} and not "isCut" ${inOrder(page)}
    ) as ids ${values} from counted`)
  const { ids, values: counts, counted, isCut } = found ?? NOTHING
  // The last match may be the last of all.
  return isCut === true && counted <= exactTotal
    ? { ids: [], total: Math.max(0, counted - 1), totalIsExact: false }
    : { ids, ...totalOf(counted, exactTotal), ...(counts && { values: counts }) }
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

/**
 * All matches. Without a limit or an order here, the planner uses the GIN index.
 *
 * @param checked whether categories, size and time are checked row by row
 */
export function matches(criteria: Criteria, checked = false): RawBuilder<unknown> {
  const driver = driverOf(criteria)
  const listed = sql`select id, created_at, size, 0 as place from torrents
    where ${found(criteria, checked)} and ${allOf(checks(criteria))}`
  // `offset 0` lets Postgres look up each torrent, and not read the catalogue to join it.
  return driver === undefined
    ? listed
    : sql`select listed.* from (${driver} offset 0) as driver, lateral (${listed} and id = torrent_id offset 0) as listed`
}

/** The conditions of a search except its checks. */
function found(criteria: Criteria, checked: boolean): RawBuilder<unknown> {
  // The index contains only approved torrents. The others are few, and read row by row.
  const by = criteria.state === 'approved' && driverOf(criteria) === undefined ? 'index' : 'row'
  return sql`deleted_at is null and state = ${criteria.state} and ${indexed(criteria, by, checked)}`
}

/** The matches among the torrents of which the index knows everything but the checks, and one more row if it found more. */
export function examinedMatches(criteria: Criteria, checked: boolean, most: number): RawBuilder<unknown> {
  const range = singleRangeOf(criteria)
  // The index of a range is read in order, because a bitmap of it could be as large as the catalogue.
  const listed =
    range === undefined
      ? sql`torrents where ${found(criteria, checked)} limit ${most + 1}`
      : walk(criteria, { sort: range, order: 'desc' }, most + 1)
  return sql`select id, created_at, size, place from (
    select id, created_at, size, row_number() over () as place, (${allOf(checks(criteria))}) as passes from ${listed}
  ) as examined where passes or place > ${most}`
}

export function isOwn({ own }: Criteria): boolean {
  return own !== undefined && own.state !== 'unseen'
}

/** The ids of torrents to look up, if another table restricts them more than the index does. */
export function driverOf(criteria: Criteria): RawBuilder<unknown> | undefined {
  const { own, alive } = criteria
  if (own !== undefined && isOwn(criteria)) return ownRows(own)
  if (alive === undefined || !isPlain({ ...criteria, alive: undefined })) return undefined
  return sql`select torrent_id from torrent_stats
    where listed_in = any(${[...alive.categoryIds]}::uuid[]) and ${seedersOf(alive)}`
}

export function withStats(page: Page): RawBuilder<unknown> {
  return isCounted(page) ? sql`join torrent_stats on torrent_stats.torrent_id = id` : sql``
}
