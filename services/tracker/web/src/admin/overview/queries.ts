import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'

export const overview = queryOptions({
  queryKey: ['admin', 'overview'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/overview', { signal })),
  refetchInterval: 15_000,
})
