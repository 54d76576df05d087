import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import { categories } from '../../api/queries.ts'

/** The tree, with the number of torrents in each category. */
export const managedCategories = queryOptions({
  queryKey: ['admin', 'categories'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/categories', { signal })),
})

/** Reloads the tree here and wherever categories are chosen. */
export async function reloadCategories(queries: QueryClient): Promise<void> {
  void queries.invalidateQueries({ queryKey: categories.queryKey })
  void queries.invalidateQueries({ queryKey: ['torrents'] })
  await queries.invalidateQueries({ queryKey: managedCategories.queryKey })
}
