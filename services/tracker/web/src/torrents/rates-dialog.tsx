import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import type { Torrent } from '../api/client.ts'
import type { Rates } from '../release/rates.ts'
import { RatesForm } from '../release/rates-form.tsx'
import { useSaveTorrent } from '../release/save-torrent.ts'

/** The rates of one torrent, for staff. */
export function RatesDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const save = useSaveTorrent<Rates>(torrent.id, onClose)
  return (
    <Dialog title="Rates of this torrent" onClose={onClose}>
      <RatesForm
        label="Rates"
        rates={torrent}
        error={save.error}
        isBusy={save.isPending}
        onSave={(rates) => save.mutate(rates)}
        actions={<Button onClick={onClose}>Cancel</Button>}
      />
    </Dialog>
  )
}
