import { oneOf, pageIn, type RawSearch } from '@vault-and-tracker/web-kit/address'
import type { paths } from '../../../generated/openapi.ts'

type Query = paths['/api/user/torrents']['get']['parameters']['query']
export type OwnList = Query['list']
export type OwnSort = NonNullable<Query['sort']>

const LISTS = ['seeding', 'leeching', 'snatched', 'duties'] as const satisfies readonly OwnList[]
const SORTS = [
  'uploaded',
  'downloaded',
  'seedTime',
  'completed',
  'created',
  'size',
  'seeders',
] as const satisfies readonly OwnSort[]

/** The order of each list without a sort in the address, as in the API. */
export const INITIAL_SORTS = {
  uploads: 'created',
  seeding: 'uploaded',
  leeching: 'downloaded',
  snatched: 'completed',
  duties: 'completed',
} as const satisfies Record<OwnList, OwnSort>

export type OwnSearch = {
  /** Uploads by default. */
  list?: (typeof LISTS)[number] | undefined
  by?: OwnSort | undefined
  order?: 'asc' | undefined
  page?: number | undefined
}

export function readOwnSearch(raw: RawSearch): OwnSearch {
  return {
    list: oneOf(raw, 'list', LISTS),
    by: oneOf(raw, 'by', SORTS),
    order: oneOf(raw, 'order', ['asc']),
    page: pageIn(raw),
  }
}
