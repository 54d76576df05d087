import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'

export const siteSettings = queryOptions({
  queryKey: ['admin', 'site'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/site', { signal })),
})
