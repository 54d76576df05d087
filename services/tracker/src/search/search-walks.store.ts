import { type RawBuilder, sql } from 'kysely'
import type { Criteria } from './criteria.ts'
import { rangesOf, SORT_COLUMNS, seedersOf } from './search-conditions.store.ts'
import type { Page } from './statements.ts'

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
export function walkedTorrents(criteria: Criteria, page: Walked, most: number): RawBuilder<unknown> {
  const walked = walk(criteria, page, most)
  return isCounted(page) ? sql`${walked} join torrents using (id)` : walked
}

export function isCounted({ sort }: Walked): boolean {
  return sort === 'seeders' || sort === 'leechers'
}

export function inOrder({ sort, order, offset, limit }: Omit<Page, 'allCategoryIds'>): RawBuilder<unknown> {
  const direction = sql.raw(order)
  return sql`order by ${sql.ref(SORT_COLUMNS[sort])} ${direction}, id ${direction} limit ${limit} offset ${offset}`
}
