import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'

export const overview = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/overview', { signal })),
})
