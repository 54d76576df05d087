import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { State } from './search.ts'

const PAGE_SIZE = 25
const REFRESH_MS = 60_000

/** A page of the torrents in a state, oldest first. */
export const queue = (state: State, page = 1) =>
  queryOptions({
    queryKey: ['admin', 'moderation', 'list', state, page],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/torrents', { params: { query: { state, page, limit: PAGE_SIZE } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

/** The number of torrents awaiting approval. */
export const waiting = queryOptions({
  queryKey: ['admin', 'moderation', 'waiting'],
  queryFn: async ({ signal }) => {
    const query = { state: 'pending', limit: 1 } as const
    const { total, totalIsExact } = await read(api.GET('/api/admin/torrents', { params: { query }, signal }))
    return { total, totalIsExact }
  },
  staleTime: 10_000,
  refetchInterval: REFRESH_MS,
})

/** Loads again what a decision about torrents changes. */
export function reloadDecided(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: ['admin', 'moderation'] })
  void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
  void queries.invalidateQueries({ queryKey: ['torrents'] })
}

/** One torrent with its description. */
export const moderated = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'one', id],
    queryFn: ({ signal }) => read(api.GET('/api/torrents/{id}', { params: { path: { id } }, signal })),
    staleTime: 10_000,
  })

/** Other releases of the title of a torrent. */
export const related = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'related', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/torrents/{id}/details', { params: { path: { id } }, signal }))).related,
    staleTime: 10_000,
  })

/** The record of the uploader of a torrent, unless the account was deleted. */
export const uploaderRecord = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'moderation', 'uploader', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/torrents/{id}/uploader', { params: { path: { id } }, signal })),
  })

/** The record of a user; for moderators, of a member. */
export const userRecord = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'record', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/users/{id}/record', { params: { path: { id } }, signal })),
  })

const MAX_FILES = 50

/** The first files of a torrent, which never change. */
export const moderatedFiles = (id: string) =>
  queryOptions({
    queryKey: ['torrents', 'first files', id],
    queryFn: ({ signal }) => {
      const query = { limit: MAX_FILES }
      return read(api.GET('/api/torrents/{id}/files', { params: { path: { id }, query }, signal }))
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
