import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given, rangeOf } from '@vault-and-tracker/web-kit/address'
import { api, read } from '../api/client.ts'
import type { AuditSearch } from './search.ts'

export const PAGE_SIZE = 50
const VERIFIED_FRESH_MS = 60_000

/** A page of the log, newest entry first. The old page stays until the new one has loaded. */
export const auditPage = (search: AuditSearch) =>
  queryOptions({
    queryKey: ['audit', search],
    queryFn: ({ signal }) => {
      const query = { ...filtersOf(search), ...given({ before: search.before }), limit: PAGE_SIZE }
      return read(api.GET('/v1/admin/audit', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })

/** The newest matching entries as a file. */
export function exportAudit(search: AuditSearch, format: 'csv' | 'json'): Promise<Blob> {
  const query = { ...filtersOf(search), format }
  return read(api.GET('/v1/admin/audit/export', { params: { query }, parseAs: 'blob' }))
}

function filtersOf({ project, action, env, key, keyName, actor, ...days }: AuditSearch) {
  const { from, to } = rangeOf(days)
  return {
    action: action ?? ('without-reads' as const),
    ...given({ projectId: project, env, key, keyName, actor, since: from, until: to }),
  }
}

/** Whether the newest entries match their seals. */
export const verification = queryOptions({
  queryKey: ['verification'],
  queryFn: ({ signal }) => read(api.GET('/v1/admin/audit/verification', { signal })),
  staleTime: VERIFIED_FRESH_MS,
})
