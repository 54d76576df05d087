import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'
import type { AuditSearch } from './search.ts'

export const PAGE_SIZE = 50
const VERIFIED_FRESH_MS = 60_000

/** A page of the log, newest entry first. The old page stays until the new one has loaded. */
export const auditPage = ({ project, action, before }: AuditSearch) =>
  queryOptions({
    queryKey: ['audit', project ?? null, action ?? null, before ?? null],
    queryFn: async ({ signal }) => {
      const filter = {
        limit: PAGE_SIZE,
        ...(project !== undefined && { projectId: project }),
        ...(before !== undefined && { before }),
      }
      // Only listings of one action include the actor.
      const actions = action === undefined ? (['fetch', 'rotate'] as const) : [action]
      const listings = await Promise.all(
        actions.map((each) =>
          read(api.GET('/v1/admin/audit', { params: { query: { ...filter, action: each } }, signal })),
        ),
      )
      // Ids sort by time.
      return listings
        .flat()
        .toSorted((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, PAGE_SIZE)
    },
    placeholderData: keepPreviousData,
  })

/** Whether the newest entries match their seals. */
export const verification = queryOptions({
  queryKey: ['verification'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/audit/verification', { signal })),
  staleTime: VERIFIED_FRESH_MS,
})
