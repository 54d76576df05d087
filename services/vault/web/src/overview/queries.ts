import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'

/** The numbers that are looked at first. */
export const overview = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/overview', { signal })),
})
