import { queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'

/** The member's saved searches, with the matches since the last visit. */
export const savedSearches = queryOptions({
  queryKey: ['saved', 'searches'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/saved-searches', { signal }))).items,
  staleTime: 60_000,
})

/** The tokens of all feeds of the member. */
export const feedTokens = queryOptions({
  queryKey: ['saved', 'feeds'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/feed-tokens', { signal }))).items,
})
