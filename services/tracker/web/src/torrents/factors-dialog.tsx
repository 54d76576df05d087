import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Dialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { api, type Torrent } from '../api/client.ts'
import { type Factors, FactorsForm } from '../release/factors-form.tsx'
import { torrent as torrentQuery } from './queries.ts'

/** How much of a torrent's downloads is charged and of its uploads credited; for the staff. */
export function FactorsDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const queries = useQueryClient()
  const save = useMutation<Torrent, ApiError, Factors>({
    mutationFn: (body) => read(api.PATCH('/api/torrents/{id}', { params: { path: { id: torrent.id } }, body })),
    onSuccess: (changed) => {
      queries.setQueryData(torrentQuery(torrent.id).queryKey, changed)
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
      toast('Saved.')
      onClose()
    },
  })
  return (
    <Dialog title="Freeleech of this torrent" onClose={onClose}>
      <FactorsForm
        label="Freeleech of this torrent"
        factors={torrent}
        error={save.error}
        isBusy={save.isPending}
        onSave={(factors) => save.mutate(factors)}
        actions={<Button onClick={onClose}>Cancel</Button>}
      />
    </Dialog>
  )
}
