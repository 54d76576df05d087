import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextArea } from '@vault-and-tracker/web-kit/form'
import { api, type Report } from '../../api/client.ts'
import { BreakableName } from '../../release/release-tags.tsx'

export function ResolveDialog({ report, onClose }: { report: Report; onClose: () => void }) {
  const queries = useQueryClient()
  const resolve = useMutation<unknown, ApiError, string>({
    mutationFn: (note) =>
      read(api.POST('/api/admin/reports/{id}/resolve', { params: { path: { id: report.id } }, body: { note } })),
    onSuccess: () => {
      toast('Report resolved.')
      onClose()
      void queries.invalidateQueries({ queryKey: ['admin', 'reports'] })
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
    },
  })
  return (
    <FormDialog
      title="Resolve this report?"
      action="Resolve report"
      fields={['note']}
      error={resolve.error}
      isBusy={resolve.isPending}
      onSubmit={({ note = '' }) => resolve.mutate(note)}
      onClose={onClose}
      intro={
        <>
          <p className="file-name">
            <BreakableName name={report.torrent.name} />
          </p>
          <p className="description">{report.reason}</p>
        </>
      }
    >
      <TextArea
        label="Note"
        name="note"
        maxLength={1_000}
        hint="What you did about it. Visible to staff only."
        error={resolve.error}
        data-focus=""
      />
    </FormDialog>
  )
}
