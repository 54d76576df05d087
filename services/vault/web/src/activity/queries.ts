import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'

export const RANGES = ['24h', '7d'] as const
export type Range = (typeof RANGES)[number]

/** Requests per hour of a project, or of all. The old range stays until the new one has loaded. */
export const activityOf = (range: Range, projectId?: string) =>
  queryOptions({
    queryKey: ['activity', projectId ?? null, range],
    queryFn: async ({ signal }) => {
      const query = { range, ...(projectId !== undefined && { projectId }) }
      return (await read(api.GET('/v1/admin/activity', { params: { query }, signal }))).items
    },
    placeholderData: keepPreviousData,
  })
