import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

/** The environments of a project, and which inherits from which. */
export const environmentsOf = (name: string) =>
  queryOptions({
    queryKey: ['environments', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/environments', { params: { path: { id: name } }, signal })),
  })
