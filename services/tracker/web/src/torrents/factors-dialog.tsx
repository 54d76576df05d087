import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import type { Torrent } from '../api/client.ts'
import { type Factors, FactorsForm } from '../release/factors-form.tsx'
import { useSaveTorrent } from './save-torrent.ts'

/** How much of a torrent's downloads is charged and of its uploads credited; for the staff. */
export function FactorsDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const save = useSaveTorrent<Factors>(torrent.id, onClose)
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
