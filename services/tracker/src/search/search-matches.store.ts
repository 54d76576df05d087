import { type RawBuilder, sql } from 'kysely'
import { MAX_EXACT_TOTAL, totalOf } from '../pagination.ts'
import { alternativesOf, type Criteria, isPlain } from './criteria.ts'
import type { CountedValue } from './facets.ts'
import {
  allOf,
  checks,
  indexed,
  inYear,
  ownRows,
  rangesOf,
  seedersOf,
  singleRangeOf,
} from './search-conditions.store.ts'
import type { FoundIds, Page } from './statements.ts'

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

/** A part of a search: the criteria, and a year in which the torrents were created. */
type Part = { readonly criteria: Criteria; readonly year?: number }

/**
 * All matches. Without a limit or an order here, the planner uses the GIN index.
 *
 * @param years only matches that were created in these years, in this order
 */
export function matches(criteria: Criteria, years?: readonly number[]): RawBuilder<unknown> {
  const driver = driverOf(criteria)
  const columns = sql`id, created_at, size, 0 as place`
  const passing = (part: Part): RawBuilder<unknown> => sql`${listed(part, columns)} and ${allOf(checks(part.criteria))}`
  // `offset 0` lets Postgres look up each torrent, and not read the catalogue to join it.
  return driver === undefined
    ? union(partsOf(criteria, years).map(passing))
    : sql`select listed.* from (${driver} offset 0) as driver,
        lateral (${passing({ criteria })} and id = torrent_id offset 0) as listed`
}

/** The torrents of a part, except for checks. */
function listed({ criteria, year }: Part, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  const { state } = criteria
  const by = isByIndex(criteria) ? 'index' : 'row'
  return sql`select ${columns} from torrents
    where deleted_at is null and state = ${state} and ${indexed(criteria, by)}
      and ${year === undefined ? sql`true` : inYear(year)}`
}

/** Whether the GIN index is read. It contains only approved torrents; the others are few, and read row by row. */
function isByIndex(criteria: Criteria): boolean {
  return criteria.state === 'approved' && driverOf(criteria) === undefined
}

/** Parts that together match the same torrents, each of them once. The first ones may have enough matches. */
function partsOf(criteria: Criteria, years: readonly number[] | undefined): readonly Part[] {
  if (!isByIndex(criteria) || singleRangeOf(criteria) !== undefined) return [{ criteria }]
  return years?.map((year) => ({ criteria, year })) ?? alternativesOf(criteria).map((each) => ({ criteria: each }))
}

function union(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(parts, sql` union all `)
}

/** The matches among the torrents of which the index knows everything but the checks, and one more row if it found more. */
export function examinedMatches(criteria: Criteria, most: number, years?: readonly number[]): RawBuilder<unknown> {
  const range = singleRangeOf(criteria)
  const columns = sql`id, created_at, size, search, uploader_id`
  // The index of a range is read in order, because a bitmap of it could be as large as the catalogue.
  const examined =
    range === undefined
      ? sql`(${union(partsOf(criteria, years).map((part) => listed(part, columns)))} limit ${most + 1}) as listed`
      : walk(criteria, { sort: range, order: 'desc' }, most + 1)
  return sql`select id, created_at, size, place from (
    select id, created_at, size, row_number() over () as place, (${allOf(checks(criteria))}) as passes from ${examined}
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

/** The order of a walk along a sort index. */
export type Walked = Pick<Page, 'sort' | 'order' | 'allCategoryIds'>

/**
 * The first torrents of a sort index, with the columns that conditions need; if sorted by counts, only with their ids and
 * counts. Each category has its own index range, which the planner merges.
 */
export function walk(criteria: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const { state, categoryIds } = criteria
  const { sort, order } = page
  const isCount = isCounted(page)
  const by = sql`${columnOf(sort)} ${sql.raw(order)}, ${sql.ref(isCount ? 'torrent_id' : 'id')} ${sql.raw(order)}`
  const part = (category: RawBuilder<unknown>): RawBuilder<unknown> => {
    const source = isCount
      ? sql`select torrent_id as id, ${sql.ref(sort)} from torrent_stats where ${category}`
      : sql`select id, created_at, size, category_id, search, facets, info_hash, info_hash_v2, download_percent,
          uploader_id, anonymous, internal, scene, resolution, source, codec, hdr, audio, languages
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
    case 'completed':
      return []
  }
}

/** A walk with the columns that conditions need, in any order. */
export function walkedTorrents(criteria: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const walked = walk(criteria, page, most)
  return isCounted(page) ? sql`${walked} join torrents using (id)` : walked
}

function columnOf(sort: Walked['sort']): RawBuilder<unknown> {
  return sql.ref(sort === 'created' ? 'created_at' : sort)
}

function isCounted({ sort }: Walked): boolean {
  return sort === 'seeders' || sort === 'leechers' || sort === 'completed'
}

export function inOrder({ sort, order, offset, limit }: Omit<Page, 'allCategoryIds'>): RawBuilder<unknown> {
  const direction = sql.raw(order)
  return sql`order by ${columnOf(sort)} ${direction}, id ${direction} limit ${limit} offset ${offset}`
}
