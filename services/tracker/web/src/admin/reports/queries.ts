import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { ReportSearch } from './search.ts'

const REFRESH_MS = 60_000

/** A page of open or resolved reports. */
export const reports = ({ state, page = 1 }: ReportSearch) =>
  queryOptions({
    queryKey: ['admin', 'reports', state, page],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/reports', { params: { query: { state: state ?? 'open', page } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })
