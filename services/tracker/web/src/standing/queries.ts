import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../api/client.ts'

/** The ranges of charts, in days. The first is the default. */
export const DAY_RANGES = [30, 90, 365] as const
export type DayRange = (typeof DAY_RANGES)[number]

/** Reads a range from an address, which leaves out the default. */
export function readDays(value: unknown): DayRange | undefined {
  return DAY_RANGES.find((days) => String(days) === String(value) && days !== DAY_RANGES[0])
}

/** The statistics of a user that the reader may see. */
export const userStats = (id: string) =>
  queryOptions({
    queryKey: ['users', 'stats', id],
    queryFn: ({ signal }) => read(api.GET('/api/user/{id}/stats', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })

/** Transfers per day, for the user and staff. */
export const transferHistory = (id: string, days: DayRange) =>
  queryOptions({
    queryKey: ['users', 'history', id, days],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/user/{id}/history', { params: { path: { id }, query: { days } }, signal }))).items,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
