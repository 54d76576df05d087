import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'

export const rulesVersions = queryOptions({
  queryKey: ['admin', 'rules'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/rules', { params: { query: { limit: 100 } }, signal })),
})

export const rulesText = (version: number) =>
  queryOptions({
    queryKey: ['admin', 'rules', version],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/rules/{version}', { params: { path: { version: String(version) } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
