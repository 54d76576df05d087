import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../api/client.ts'

/** NFO, MediaInfo, other releases and costs of a torrent. */
export const torrentDetails = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'details', id],
    queryFn: ({ signal }) => read(api.GET('/api/torrents/{id}/details', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })

/** The peers of a torrent over the last month. */
export const torrentHistory = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'history', id],
    queryFn: ({ signal }) => read(api.GET('/api/torrents/{id}/history', { params: { path: { id } }, signal })),
    staleTime: 600_000,
  })
