import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog } from '@vault-and-tracker/web-kit/feedback'
import { TextArea } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type Torrent } from '../../api/client.ts'
import { BreakableName } from '../../release/release-tags.tsx'

export function RejectDialog(props: {
  torrent: Torrent
  onRejected: () => void
  onFailed: () => void
  onClose: () => void
}) {
  const { onRejected, onFailed, onClose } = props
  // As when the dialog opened, which then covers what changes.
  const [torrent] = useState(props.torrent)
  const { id, version } = torrent
  const reject = useMutation<unknown, ApiError, string>({
    mutationFn: (reason) =>
      read(
        api.POST('/api/admin/torrents/{id}/reject', {
          params: { path: { id }, query: { ...(version !== null && { version }) } },
          body: { reason },
        }),
      ),
    onSuccess: onRejected,
    onError: onFailed,
  })
  return (
    <FormDialog
      title="Reject this torrent?"
      action="Reject torrent"
      kind="danger"
      fields={['reason']}
      error={reject.error}
      isBusy={reject.isPending}
      onSubmit={({ reason = '' }) => reject.mutate(reason)}
      onClose={onClose}
      intro={
        <p className="file-name">
          <BreakableName name={torrent.name} />
        </p>
      }
    >
      <TextArea
        label="Reason"
        name="reason"
        required
        maxLength={500}
        hint={`Shown to ${torrent.uploader ?? 'the uploader'}. A rejected torrent cannot be downloaded.`}
        error={reject.error}
        data-focus=""
      />
    </FormDialog>
  )
}
