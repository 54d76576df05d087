import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import { type LogSearch, startOf } from './search.ts'

const PAGE_SIZE = 50

/** A page of the log. The old page stays until the new one has loaded. */
export const logPage = (search: LogSearch) =>
  queryOptions({
    queryKey: ['admin', 'log', 'list', search],
    queryFn: ({ signal }) => {
      const { from, to, ...others } = search
      const range = given({
        from: from === undefined ? undefined : startOf(from),
        to: to === undefined ? undefined : startOf(to, 1),
      })
      const query = { ...given(others), ...range, limit: PAGE_SIZE }
      return read(api.GET('/api/admin/log', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })
