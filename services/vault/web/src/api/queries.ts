import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { preload } from '@vault-and-tracker/web-kit/start'
import { api, read } from './client.ts'
import { session } from './session.ts'

export const allProjects = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/projects', { signal })),
})

/** The active keys of all projects. */
export const allKeys = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/keys', { signal })),
})

export const administrators = queryOptions({
  queryKey: ['administrators'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/administrators', { signal })),
})

export const sessions = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/sessions', { signal })),
})

/** Starts the queries of a page while its code loads. Before signing in there is nothing to read. */
export function start(queries: QueryClient, run: (queries: QueryClient) => readonly Promise<unknown>[]): void {
  if (session.read().isOpen) preload(...run(queries))
}
