import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextArea } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type Torrent } from '../api/client.ts'
import { BreakableName } from '../release/release-tags.tsx'

/** Reports a torrent to staff. */
export function ReportButton({ torrent }: { torrent: Torrent }) {
  const [isOpen, setOpen] = useState(false)
  const report = useMutation<unknown, ApiError, string>({
    mutationFn: (reason) =>
      read(api.POST('/api/torrents/{id}/reports', { params: { path: { id: torrent.id } }, body: { reason } })),
    onSuccess: () => {
      toast('Torrent reported.')
      setOpen(false)
    },
  })
  return (
    <>
      <Button onClick={() => setOpen(true)}>Report torrent</Button>
      {isOpen && (
        <FormDialog
          title="Report this torrent?"
          action="Report torrent"
          fields={['reason']}
          error={report.error}
          isBusy={report.isPending}
          onSubmit={({ reason = '' }) => report.mutate(reason)}
          onClose={() => {
            setOpen(false)
            report.reset()
          }}
          intro={
            <p>
              <BreakableName name={torrent.name} />
            </p>
          }
        >
          <TextArea
            label="Reason"
            name="reason"
            required
            maxLength={1_000}
            hint="Only staff see the report and who sent it."
            error={report.error}
            data-focus=""
          />
        </FormDialog>
      )}
    </>
  )
}
