import { queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { OwnList, OwnSearch } from './search.ts'

const REFRESH_MS = 60_000

export const ownTorrents = (search: OwnSearch) => {
  const { by: sort, list = 'uploads' as OwnList, ...rest } = search
  return queryOptions({
    queryKey: ['me', 'torrents', list, sort, rest],
    queryFn: ({ signal }) => {
      const query = { list, ...given({ sort, ...rest }) }
      return read(api.GET('/api/user/torrents', { params: { query }, signal }))
    },
    // The columns differ between lists.
    placeholderData: (before, query) => (query?.queryKey[2] === list ? before : undefined),
    refetchInterval: REFRESH_MS,
  })
}

/** Sums of a whole list, which take longer to read than a page. */
export const ownTotals = (list: OwnList) =>
  queryOptions({
    queryKey: ['me', 'torrent-totals', list],
    queryFn: ({ signal }) => read(api.GET('/api/user/torrents/totals', { params: { query: { list } }, signal })),
    staleTime: REFRESH_MS,
  })
