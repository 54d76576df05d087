import { queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'

/** The choices of days ahead; the first is the default. */
export const DAYS = ['30', '7', '90', '365'] as const
export type Days = (typeof DAYS)[number]

/** The secrets that are overdue or expire within some days, the earliest first. */
export const expiringWithin = (days: Days) =>
  queryOptions({
    queryKey: ['expiring', days],
    queryFn: ({ signal }) => read(api.GET('/v1/admin/expiring', { params: { query: { days: Number(days) } }, signal })),
  })
