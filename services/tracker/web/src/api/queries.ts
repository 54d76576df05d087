import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { account, api, type CategoryTree, type Start } from './client.ts'

const HOUR_MS = 3_600_000

export const ownUser = queryOptions({
  queryKey: ['me'],
  queryFn: ({ client, signal, queryKey }) =>
    account.shows(
      isFirst(client, queryKey) ? start(client).then(({ user }) => user) : readOwnUser(signal),
      ({ id }) => id,
    ),
  staleTime: 60_000,
})

/** The answer to a session always has the keys, unlike the answer to an API token. */
async function readOwnUser(signal: AbortSignal) {
  const { passkey = '', announceUrl = '', ...user } = await read(api.GET('/api/user/me', { signal }))
  return { ...user, passkey, announceUrl }
}

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
  queryFn: ({ client, signal, queryKey }) =>
    isFirst(client, queryKey)
      ? start(client).then(({ unread }) => unread)
      : read(api.GET('/api/notices/unread', { signal })),
  staleTime: MINUTE_MS / 2,
  refetchInterval: MINUTE_MS,
})

export const categories = queryOptions({
  queryKey: ['categories'],
  queryFn: async ({ client, signal, queryKey }) =>
    isFirst(client, queryKey)
      ? (await start(client)).categories
      : (await read(api.GET('/api/categories', { signal }))).items,
  staleTime: HOUR_MS,
})

/** Set while the server refuses reads because staff need a second factor. */
export const FACTOR_IS_MISSING = ['factor-is-missing'] as const

/** What is set up on a new site, for administrators. */
export const checklist = queryOptions({
  queryKey: ['admin', 'checklist'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/checklist', { signal })),
})

/** The rules of the site, and whether the member accepted them. */
export const rules = queryOptions({
  queryKey: ['rules'],
  queryFn: ({ signal }) => read(api.GET('/api/rules', { signal })),
})

/** Whether the member has to accept the current rules. */
export const rulesWaiting = queryOptions({
  queryKey: ['rules', 'waiting'],
  queryFn: async ({ client, signal, queryKey }) => {
    if (isFirst(client, queryKey)) return (await start(client)).rulesWaiting
    const { version, accepted } = await read(api.GET('/api/rules', { signal }))
    return version > 0 && accepted === null
  },
  staleTime: 10 * MINUTE_MS,
})

/** What every page shows comes in one request, because each request of a phone takes long. */
let starting: Promise<Start> | undefined

function start(queries: QueryClient): Promise<Start> {
  starting ??= read(api.GET('/api/start'))
    .then((parts) => {
      const keep = (key: readonly string[], part: unknown): void => {
        if (isFirst(queries, key)) queries.setQueryData(key, part)
      }
      keep(categories.queryKey, parts.categories)
      keep(unreadNotices.queryKey, parts.unread)
      keep(rulesWaiting.queryKey, parts.rulesWaiting)
      return parts
    })
    .finally(() => {
      starting = undefined
    })
  return starting
}

function isFirst(queries: QueryClient, key: readonly string[]): boolean {
  return queries.getQueryData(key) === undefined
}

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
