import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import type { paths } from '../../generated/openapi.ts'

type Query = NonNullable<paths['/api/torrents']['get']['parameters']['query']>
export type Sort = NonNullable<Query['sort']>
export type Order = NonNullable<Query['order']>

/** The parameters of the list's address. Omitted ones have their defaults. */
export type ListSearch = {
  readonly search?: string | undefined
  readonly category?: string | undefined
  readonly sort?: Sort | undefined
  readonly order?: Order | undefined
  readonly page?: number | undefined
}

const SORTS: readonly Sort[] = ['created', 'seeders', 'leechers', 'size']
const ORDERS: readonly Order[] = ['asc', 'desc']
export const PAGE_SIZE = 50

/** Reads an address; ignores invalid parameters. */
export function readListSearch(raw: RawSearch): ListSearch {
  const category = textIn(raw, 'category')
  return {
    search: textIn(raw, 'search', 256),
    category: category !== undefined && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(category) ? category : undefined,
    sort: oneOf(raw, 'sort', SORTS),
    order: oneOf(raw, 'order', ORDERS),
    page: pageIn(raw),
  }
}
