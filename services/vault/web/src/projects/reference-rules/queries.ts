import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

/** Which other projects may refer to secrets of a project. */
export const referenceRulesOf = (name: string) =>
  queryOptions({
    queryKey: ['reference-rules', name],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/admin/projects/{id}/reference-rules', { params: { path: { id: name } }, signal })),
  })
