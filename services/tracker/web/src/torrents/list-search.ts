import type { paths } from '../api/schema.ts'

type Query = NonNullable<paths['/api/torrents']['get']['parameters']['query']>
export type Sort = NonNullable<Query['sort']>
export type Order = NonNullable<Query['order']>

/** What the address of the list says; what is left out has its default. */
export type ListSearch = {
  readonly search?: string | undefined
  readonly category?: string | undefined
  readonly sort?: Sort | undefined
  readonly order?: Order | undefined
  readonly page?: number | undefined
}

const SORTS: readonly Sort[] = ['created', 'seeders', 'leechers', 'size']
const ORDERS: readonly Order[] = ['asc', 'desc']
const MAX_PAGE = 10_000
export const PAGE_SIZE = 50

/** Reads the parameters of an address; what makes no sense is as if it were not there. */
export function readListSearch(raw: Readonly<Record<string, unknown>>): ListSearch {
  const category = textOf(raw['category'])
  return {
    search: textOf(raw['search'])?.slice(0, 256),
    category: category !== undefined && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(category) ? category : undefined,
    sort: SORTS.find((sort) => sort === raw['sort']),
    order: ORDERS.find((order) => order === raw['order']),
    page: readPage(raw['page']),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The number of a page; undefined for the first. */
export function readPage(raw: unknown): number | undefined {
  const page = Number(raw)
  return Number.isInteger(page) && page > 1 && page <= MAX_PAGE ? page : undefined
}
