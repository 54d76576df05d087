import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { api, read } from './client.ts'
import { session } from './session.ts'

/** All projects. */
export const allProjects = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/projects', { signal })),
})

/** The valid keys of all projects. */
export const allKeys = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/keys', { signal })),
})

/** The named administrators. */
export const administrators = queryOptions({
  queryKey: ['administrators'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/administrators', { signal })),
})

/** Lets queries run that a page will read, so that its code and its data are on their way together. */
export function start(queries: QueryClient, run: (queries: QueryClient) => readonly Promise<unknown>[]): void {
  // The page tells what fails; before signing in there is nothing to read.
  if (session.read().isOpen) for (const query of run(queries)) query.catch(() => undefined)
}
