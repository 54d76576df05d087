import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../api/client.ts'

const REFRESH_MS = 60_000

export const noticeList = (unreadOnly: boolean, page: number | undefined) =>
  queryOptions({
    queryKey: ['notices', 'list', unreadOnly, page],
    queryFn: ({ signal }) => {
      const query = given({ unread: unreadOnly ? ('true' as const) : undefined, page })
      return read(api.GET('/api/notices', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

export const noticeSettings = queryOptions({
  queryKey: ['notice-settings'],
  queryFn: ({ signal }) => read(api.GET('/api/notices/settings', { signal })),
})
