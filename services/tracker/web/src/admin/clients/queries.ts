import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api, type ClientRule, type Clients } from '../../api/client.ts'

export const clients = queryOptions({
  queryKey: ['admin', 'clients'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/clients', { signal })),
})

/** Adds and removes rules. */
export const changeRules = (body: { add?: ClientRule[]; remove?: ClientRule[] }) =>
  read(api.PATCH('/api/admin/clients/rules', { body }))

/** Shows the answer to a change. */
export function showChanged(queries: QueryClient, changed: Clients): void {
  queries.setQueryData(clients.queryKey, changed)
  void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
}
