import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import type { paths } from '../../../generated/openapi.ts'
import { api, type SiteSettings } from '../../api/client.ts'
import { site } from '../../api/queries.ts'

export const siteSettings = queryOptions({
  queryKey: ['admin', 'site'],
  queryFn: ({ signal }) => read(api.GET('/api/admin/site', { signal })),
})

export type SiteChanges = paths['/api/admin/site']['patch']['requestBody']['content']['application/json']

/** Changes settings, and shows what is stored then. */
export function useSiteChange<Changes = SiteChanges>(
  send: (changes: Changes) => Promise<SiteSettings>,
  onSaved?: (settings: SiteSettings) => void,
) {
  const queries = useQueryClient()
  return useMutation<SiteSettings, ApiError, Changes>({
    mutationFn: send,
    onSuccess: (settings) => {
      queries.setQueryData(siteSettings.queryKey, settings)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      void queries.invalidateQueries({ queryKey: ['admin', 'checklist'] })
      void queries.invalidateQueries({ queryKey: site.queryKey })
      onSaved?.(settings)
      toast('Saved.')
    },
  })
}

export const saveSite = (body: SiteChanges): Promise<SiteSettings> => read(api.PATCH('/api/admin/site', { body }))
