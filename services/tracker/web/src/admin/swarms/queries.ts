import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { BusySort, Range } from './search.ts'

/** The interval between updates while the page is visible. */
const LIVE_MS = 5_000
const LIST_MS = 10_000
/** Samples are taken every minute. */
const HISTORY_MS = 60_000
const BUSIEST = 25
const PEERS_PAGE = 50

/** All swarms together, now. */
export const swarmTotals = queryOptions({
  queryKey: ['admin', 'swarms', 'totals'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/swarms', { signal })),
  refetchInterval: LIVE_MS,
})

/** All swarms over time. The old range stays until the new one has loaded. */
export const swarmHistory = (range: Range) =>
  queryOptions({
    queryKey: ['admin', 'swarms', 'history', range],
    queryFn: ({ signal }) => read(api.GET('/api/admin/swarms/history', { params: { query: { range } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: HISTORY_MS,
  })

export const busiestTorrents = (sort: BusySort) =>
  queryOptions({
    queryKey: ['admin', 'swarms', 'busiest', sort],
    queryFn: async ({ signal }) => {
      const query = { sort, limit: BUSIEST }
      return (await read(api.GET('/api/admin/swarms/busiest', { params: { query }, signal }))).items
    },
    placeholderData: keepPreviousData,
    refetchInterval: LIST_MS,
  })

export const torrentPeers = (id: string, page: number) =>
  queryOptions({
    queryKey: ['admin', 'swarms', 'peers', id, page],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { page, limit: PEERS_PAGE } }
      return read(api.GET('/api/admin/swarms/{id}/peers', { params, signal }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: LIST_MS,
  })
