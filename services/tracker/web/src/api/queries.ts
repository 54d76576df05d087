import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api, type CategoryTree } from './client.ts'

const HOUR_MS = 3_600_000

/** The signed-in user's own account. */
export const ownUser = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => read(api.GET('/api/user/me', { signal })),
  staleTime: 60_000,
})

/** The signed-in user's statistics. */
export const ownStats = (id: string) =>
  queryOptions({
    queryKey: ['me', 'stats', id],
    queryFn: ({ signal }) => read(api.GET('/api/user/{id}/stats', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })

/** The tree of categories. */
export const categories = queryOptions({
  queryKey: ['categories'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/categories', { signal }))).items,
  staleTime: HOUR_MS,
})

/** How the site takes new members, and where its Torznab API is. */
export const site = queryOptions({
  queryKey: ['site'],
  queryFn: ({ signal }) => read(api.GET('/api/site', { signal })),
  staleTime: HOUR_MS,
})

/** A category with its level in the tree. */
export type CategoryEntry = {
  readonly slug: string
  readonly name: string
  readonly path: string
  readonly level: number
}

/** The tree in reading order. */
export function flatten(tree: readonly CategoryTree[]): readonly CategoryEntry[] {
  return tree.flatMap(({ slug, name, subcategories }) => [
    { slug, name, path: name, level: 0 },
    ...subcategories.map((below) => ({
      slug: below.slug,
      name: below.name,
      path: `${name} / ${below.name}`,
      level: 1,
    })),
  ])
}

/** Lets a query run that a page will read, so that its code and its data are on their way together. The page tells what fails. */
export function started(query: Promise<unknown>): void {
  query.catch(() => undefined)
}
