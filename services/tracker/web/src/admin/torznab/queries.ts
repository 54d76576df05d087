import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import { given, type Range, type RequestSearch, type TorznabSearch } from './search.ts'

export const MINUTE_MS = 60_000
/** The remaining time of blocks is shown in seconds. */
const BLOCKS_REFRESH_MS = 10_000
const PAGE_SIZE = 50

/** A named range, or an own one. */
export type AskedRange = { readonly range?: Range | undefined } & Pick<TorznabSearch, 'from' | 'to'>

/** The prefix of all queries below, for invalidation. */
export const TORZNAB_KEY = ['admin', 'torznab']

/** Statistics of a range. */
export const statistics = ({ range, from, to }: AskedRange) =>
  queryOptions({
    queryKey: [...TORZNAB_KEY, 'statistics', range ?? '24h', from, to],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/torznab/statistics', { params: { query: given({ range, from, to }) }, signal })),
    staleTime: 10_000,
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
export const users = ({ search, blocked, page }: Pick<TorznabSearch, 'search' | 'blocked' | 'page'>) =>
  queryOptions({
    queryKey: [...TORZNAB_KEY, 'users', search, blocked, page],
    queryFn: ({ signal }) => {
      const query = { ...given({ search, blocked, page }), limit: PAGE_SIZE }
      return read(api.GET('/api/admin/torznab/users', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })

/** A page of the log. */
export const requests = (search: RequestSearch) =>
  queryOptions({
    queryKey: [...TORZNAB_KEY, 'requests', search],
    queryFn: ({ signal }) => {
      const query = { ...given(search), limit: PAGE_SIZE }
      return read(api.GET('/api/admin/torznab/requests', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })

/** Anonymous and refused requests by address, the newest hours first. */
export const addresses = queryOptions({
  queryKey: [...TORZNAB_KEY, 'addresses'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/torznab/addresses', { params: { query: { limit: 100 } }, signal })),
  refetchInterval: MINUTE_MS,
})

/** Addresses that are blocked. */
export const blocks = queryOptions({
  queryKey: [...TORZNAB_KEY, 'blocks'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/admin/torznab/blocks', { signal }))).items,
  refetchInterval: BLOCKS_REFRESH_MS,
})
