import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import type { paths } from '../../generated/openapi.ts'
import { api, type Torrent } from '../api/client.ts'

type Body = NonNullable<paths['/api/torrents/{id}']['patch']['requestBody']>['content']['application/json']

/** Changes a torrent, here and in the list. */
export function useSaveTorrent<Changes extends Body>(id: string, onSaved: () => void) {
  const queries = useQueryClient()
  return useMutation<Torrent, ApiError, Changes>({
    mutationFn: (body) => read(api.PATCH('/api/torrents/{id}', { params: { path: { id } }, body })),
    onSuccess: (changed) => {
      queries.setQueryData(['torrents', 'one', id], changed)
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
      toast('Saved.')
      onSaved()
    },
  })
}
