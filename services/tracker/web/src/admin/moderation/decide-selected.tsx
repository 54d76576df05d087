import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextArea } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { reloadDecided } from './queries.ts'

/** A torrent as the moderator saw it. */
export type Seen = { readonly id: string; readonly version: string }
type Decided = { items: readonly { id: string; error: string | null }[] }

/**
 * Approves the selected torrents, or rejects them for one reason. Torrents that could not be decided stay selected, unless
 * they have changed.
 */
export function DecideSelected(props: { torrents: readonly Seen[]; onDecided: (failed: readonly Seen[]) => void }) {
  const { torrents, onDecided } = props
  const queries = useQueryClient()
  const [isRejecting, setRejecting] = useState(false)
  const decide = useMutation<Decided, ApiError, string | undefined>({
    mutationFn: (reason) =>
      read(
        api.POST('/api/admin/torrents/decisions', {
          body: {
            ids: torrents.map(({ id }) => id),
            versions: Object.fromEntries(torrents.map(({ id, version }) => [id, version])),
            ...(reason !== undefined && { reason }),
          },
        }),
      ),
    onSuccess: ({ items }, reason) => {
      const failed = torrents.filter(({ id }) => items.some((item) => item.id === id && item.error !== null))
      const done = `${formatNumberOf(items.length - failed.length, 'torrent')} ${reason === undefined ? 'approved' : 'rejected'}.`
      if (failed.length === 0) toast(done)
      else toast(`${done} ${formatNumberOf(failed.length, 'torrent')} failed.`, 'bad')
      setRejecting(false)
      onDecided(failed)
      reloadDecided(queries)
    },
  })
  return (
    <div className="form-actions" role="group" aria-label="Selected torrents">
      <p className="muted">{formatNumberOf(torrents.length, 'torrent')} selected</p>
      <Button isBusy={decide.isPending} onClick={() => decide.mutate(undefined, { onError: toastProblem })}>
        Approve selected
      </Button>
      <Button kind="danger" onClick={() => setRejecting(true)}>
        Reject selected
      </Button>
      {isRejecting && (
        <FormDialog
          title={`Reject ${formatNumberOf(torrents.length, 'torrent')}?`}
          action="Reject torrents"
          kind="danger"
          fields={['reason']}
          error={decide.error}
          isBusy={decide.isPending}
          onSubmit={({ reason = '' }) => decide.mutate(reason)}
          onClose={() => setRejecting(false)}
        >
          <TextArea
            label="Reason"
            name="reason"
            required
            maxLength={500}
            hint="Shown to each uploader. Rejected torrents cannot be downloaded."
            error={decide.error}
            data-focus=""
          />
        </FormDialog>
      )}
    </div>
  )
}
