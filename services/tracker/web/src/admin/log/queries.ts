import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given, rangeOf } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { LogSearch } from './search.ts'

const PAGE_SIZE = 50

/** A page of the log. The old page stays until the new one has loaded. */
export const logPage = (search: LogSearch) =>
  queryOptions({
    queryKey: ['admin', 'log', 'list', search],
    queryFn: ({ signal }) => {
      const query = { ...filtersOf(search), ...given({ page: search.page }), limit: PAGE_SIZE }
      return read(api.GET('/api/admin/log', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })

/** The newest matching actions as a file. */
export function exportLog(search: LogSearch, format: 'csv' | 'json'): Promise<Blob> {
  const query = { ...filtersOf(search), format }
  return read(api.GET('/api/admin/log/export', { params: { query }, parseAs: 'blob' }))
}

function filtersOf({ from, to, page: _page, ...others }: LogSearch) {
  return { ...given(others), ...rangeOf({ from, to }) }
}
