import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read } from '../../api/client.ts'

/**
 * The active keys of a project, newest first, and with `ended` those that expired or were revoked in the last 30 days.
 */
export const keysOf = (name: string, ended = false) =>
  queryOptions({
    queryKey: ['keys', name, ended],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/admin/projects/{id}/keys', {
          params: { path: { id: name }, query: { ended: ended ? 'true' : 'false' } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })
