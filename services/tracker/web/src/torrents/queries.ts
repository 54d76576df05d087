import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../api/client.ts'
import { type ListFilter, type ListSearch, PAGE_SIZE } from './list-search.ts'

/** Peer counts change all the time. */
const REFRESH_MS = 60_000

/** A page of the list. The old page stays until the new one has loaded. */
export const torrentList = (search: ListSearch) =>
  queryOptions({
    queryKey: ['torrents', 'list', search],
    queryFn: ({ signal }) => {
      const query = { ...given({ ...search, saved: undefined }), limit: PAGE_SIZE }
      return read(api.GET('/api/torrents', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    refetchInterval: REFRESH_MS,
  })

/** The values of the torrents in the list. */
export const torrentFacets = (filters: ListFilter) =>
  queryOptions({
    queryKey: ['torrents', 'facets', filters],
    queryFn: ({ signal }) => read(api.GET('/api/torrents/facets', { params: { query: given(filters) }, signal })),
    placeholderData: keepPreviousData,
    staleTime: REFRESH_MS,
  })

export const torrent = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'one', id],
    queryFn: ({ signal }) => read(api.GET('/api/torrents/{id}', { params: { path: { id } }, signal })),
    staleTime: 10_000,
    refetchInterval: REFRESH_MS,
  })

const FILES_PER_PAGE = 100

/** A page of the files of a torrent, which never change. */
export const torrentFiles = (id: string, page: number) =>
  queryOptions({
    queryKey: ['torrents', 'files', id, page],
    queryFn: ({ signal }) => {
      const query = { page, limit: FILES_PER_PAGE }
      return read(api.GET('/api/torrents/{id}/files', { params: { path: { id }, query }, signal }))
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
