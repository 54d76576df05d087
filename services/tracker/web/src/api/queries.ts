import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { account, api, type CategoryTree } from './client.ts'

const HOUR_MS = 3_600_000

export const ownUser = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => account.shows(read(api.GET('/api/user/me', { signal }))),
  staleTime: 60_000,
})

export const ownStats = (id: string) =>
  queryOptions({
    queryKey: ['me', 'stats', id],
    queryFn: ({ signal }) => read(api.GET('/api/user/{id}/stats', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })

const MINUTE_MS = 60_000

/** The number of unread notices, for the bell. */
export const unreadNotices = queryOptions({
  queryKey: ['notices', 'unread'],
  queryFn: ({ signal }) => read(api.GET('/api/notices/unread', { signal })),
  staleTime: MINUTE_MS / 2,
  refetchInterval: MINUTE_MS,
})

export const categories = queryOptions({
  queryKey: ['categories'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/categories', { signal }))).items,
  staleTime: HOUR_MS,
})

/** Set while the server refuses reads because staff need a second factor. */
export const FACTOR_IS_MISSING = ['factor-is-missing'] as const

/** The public settings of the site. */
export const site = queryOptions({
  queryKey: ['site'],
  queryFn: ({ signal }) => read(api.GET('/api/site', { signal })),
  staleTime: HOUR_MS,
})

export type CategoryEntry = {
  readonly slug: string
  readonly name: string
  readonly path: string
  readonly level: number
  /** The Torznab id of the main category. */
  readonly family: number
}

/** The tree in reading order. */
export function flatten(tree: readonly CategoryTree[]): readonly CategoryEntry[] {
  return tree.flatMap(({ slug, name, torznabId, subcategories }) => [
    { slug, name, path: name, level: 0, family: torznabId },
    ...subcategories.map((below) => ({
      slug: below.slug,
      name: below.name,
      path: `${name} / ${below.name}`,
      level: 1,
      family: torznabId,
    })),
  ])
}
