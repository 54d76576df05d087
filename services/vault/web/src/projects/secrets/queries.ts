import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

/** The secrets of a project, without their values. */
export const secretsOf = (name: string) =>
  queryOptions({
    queryKey: ['secrets', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/secrets', { params: { path: { id: name } }, signal })),
  })

/** The versions of a secret, newest first, without their values. */
export const versionsOf = (id: string) =>
  queryOptions({
    queryKey: ['versions', id],
    queryFn: ({ signal }) => read(api.GET('/v1/admin/secrets/{id}/versions', { params: { path: { id } }, signal })),
  })
