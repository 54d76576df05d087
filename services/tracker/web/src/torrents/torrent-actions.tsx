import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextField } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, type Torrent } from '../api/client.ts'
import { EditDialog } from '../release/edit-dialog.tsx'
import { BreakableName } from '../release/release-tags.tsx'
import { RatesDialog } from './rates-dialog.tsx'

/** As in the API. */
const REASON_MAX = 120

/** The actions of the uploader and of staff. */
export function TorrentActions({ torrent, isStaff }: { torrent: Torrent; isStaff: boolean }) {
  const [open, setOpen] = useState<'edit' | 'rates' | 'delete'>()
  return (
    <>
      <Button onClick={() => setOpen('edit')}>Edit torrent</Button>
      {isStaff && <Button onClick={() => setOpen('rates')}>Set rates</Button>}
      <Button kind="danger" onClick={() => setOpen('delete')}>
        Delete torrent
      </Button>
      {open === 'edit' && <EditDialog torrent={torrent} isStaff={isStaff} onClose={() => setOpen(undefined)} />}
      {open === 'rates' && <RatesDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && <DeleteDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function DeleteDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation<unknown, ApiError, string>({
    mutationFn: (reason) =>
      read(
        api.DELETE('/api/torrents/{id}', {
          params: { path: { id: torrent.id }, query: reason === '' ? {} : { reason } },
        }),
      ),
    onSuccess: async () => {
      toast('Torrent deleted.')
      await navigate({ to: '/torrents' })
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
    },
  })
  const peers = torrent.seeders + torrent.leechers
  return (
    <FormDialog
      title="Delete this torrent?"
      action="Delete torrent"
      kind="danger"
      fields={['reason']}
      error={remove.error}
      isBusy={remove.isPending}
      onSubmit={({ reason = '' }) => remove.mutate(reason.trim())}
      onClose={onClose}
      intro={
        <>
          <p>
            <BreakableName name={torrent.name} />
          </p>
          <p>
            This permanently removes the torrent from the tracker
            {peers > 0 && `; ${formatNumberOf(peers, 'peer')} will see the reason`}.
          </p>
        </>
      }
    >
      <TextField
        label="Reason"
        name="reason"
        maxLength={REASON_MAX}
        pattern="[ -~]*"
        title="ASCII characters only"
        hint="Shown for 30 days to clients that still announce it."
        error={remove.error}
        data-focus=""
      />
    </FormDialog>
  )
}
