import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import { ownUser, site } from '../../api/queries.ts'
import type { TorznabSearch } from './search.ts'

const MINUTE_MS = 60_000
/** The remaining time of blocks is shown in seconds. */
const BLOCKS_REFRESH_MS = 10_000
const PAGE_SIZE = 50

/** The prefix of all queries below, for invalidation. */
export const TORZNAB_KEY = ['admin', 'torznab']

/** Statistics of a range. */
export const statistics = ({ range, from, to }: TorznabSearch) =>
  queryOptions({
    queryKey: [...TORZNAB_KEY, 'statistics', range, from, to],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/torznab/statistics', { params: { query: given({ range, from, to }) }, signal })),
    staleTime: 10_000,
    refetchInterval: MINUTE_MS,
  })

export const settings = queryOptions({
  queryKey: [...TORZNAB_KEY, 'settings'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/torznab/settings', { signal })),
})
export const presets = queryOptions({
  queryKey: [...TORZNAB_KEY, 'presets'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/admin/torznab/presets', { signal }))).items,
  staleTime: Number.POSITIVE_INFINITY,
})

/** A page of the users of the API. */
export const users = ({ search, blocked, page }: TorznabSearch) => {
  const query = { ...given({ search, blocked, page }), limit: PAGE_SIZE }
  return queryOptions({
    queryKey: [...TORZNAB_KEY, 'users', query],
    queryFn: ({ signal }) => read(api.GET('/api/admin/torznab/users', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })
}

/** A page of the request log. */
export const requests = ({ user, address, function: name, error, from, to, page }: TorznabSearch) => {
  const query = { ...given({ user, address, function: name, error, from, to, page }), limit: PAGE_SIZE }
  return queryOptions({
    queryKey: [...TORZNAB_KEY, 'requests', query],
    queryFn: ({ signal }) => read(api.GET('/api/admin/torznab/requests', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })
}

/** Anonymous and refused requests by address, newest hours first. */
export const addresses = queryOptions({
  queryKey: [...TORZNAB_KEY, 'addresses'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/torznab/addresses', { params: { query: { limit: 100 } }, signal })),
  refetchInterval: MINUTE_MS,
})

export const blocks = queryOptions({
  queryKey: [...TORZNAB_KEY, 'blocks'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/admin/torznab/blocks', { signal }))).items,
  refetchInterval: BLOCKS_REFRESH_MS,
})

/** Starts the queries of a tab. */
export function preloadTab(queries: QueryClient, search: TorznabSearch): Promise<unknown> {
  switch (search.tab) {
    case undefined:
      return queries.query(statistics(search))
    case 'configuration':
      return Promise.all([queries.query(settings), queries.query(presets)])
    case 'users':
      return queries.query(users(search))
    case 'requests':
      return queries.query(requests(search))
    case 'blocks':
      return Promise.all([queries.query(blocks), queries.query(users({ blocked: 'true' }))])
    case 'check':
      return Promise.all([queries.query(ownUser), queries.query(site)])
  }
}
