import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

/** The trust rules of a project. */
export const trustRulesOf = (name: string) =>
  queryOptions({
    queryKey: ['trust-rules', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/trust-rules', { params: { path: { id: name } }, signal })),
  })
