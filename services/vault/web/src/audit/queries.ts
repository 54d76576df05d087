import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'
import type { AuditSearch } from './search.ts'

/** How many entries a page has. */
export const PAGE_SIZE = 50
const VERIFIED_FRESH_MS = 60_000

/** A page of the log, the newest entry first. The old one stays until the new one is there. */
export const auditPage = ({ project, action, before }: AuditSearch) =>
  queryOptions({
    queryKey: ['audit', project ?? null, action ?? null, before ?? null],
    queryFn: ({ signal }) => {
      const query = {
        limit: PAGE_SIZE,
        ...(project !== undefined && { projectId: project }),
        ...(action !== undefined && { action }),
        ...(before !== undefined && { before }),
      }
      return read(api.GET('/v1/admin/audit', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })

/** Whether the newest entries are those that were sealed. */
export const verification = queryOptions({
  queryKey: ['verification'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/audit/verification', { signal })),
  staleTime: VERIFIED_FRESH_MS,
})
