import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { api, type Torrent } from '../api/client.ts'
import type { paths } from '../api/schema.ts'
import { torrent } from './queries.ts'

type Body = NonNullable<paths['/api/torrents/{id}']['patch']['requestBody']>['content']['application/json']

/** Changes a torrent, and shows what it is then wherever it is shown. */
export function useSaveTorrent<Changes extends Body>(id: string, onSaved: () => void) {
  const queries = useQueryClient()
  return useMutation<Torrent, ApiError, Changes>({
    mutationFn: (body) => read(api.PATCH('/api/torrents/{id}', { params: { path: { id } }, body })),
    onSuccess: (changed) => {
      queries.setQueryData(torrent(id).queryKey, changed)
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
      toast('Saved.')
      onSaved()
    },
  })
}
