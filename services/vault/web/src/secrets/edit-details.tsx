import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import type { Values } from '@vault-and-tracker/web-kit/form'
import { api, read } from '../api/client.ts'
import { changedDetails, DETAIL_FIELDS, DetailFields } from './details.tsx'
import type { Place } from './store-secret.tsx'

/** Changes the note, the owner and the expiry of a secret. */
export function EditDetails(props: { project: string; secret: Place & { readonly id: string }; onClose: () => void }) {
  const { project, secret, onClose } = props
  const queries = useQueryClient()
  const change = useMutation<unknown, ApiError, Values>({
    mutationFn: async (values) => {
      const body = changedDetails(values, secret)
      if (Object.keys(body).length === 0) return
      await read(api.PATCH('/v1/admin/secrets/{id}', { params: { path: { id: secret.id } }, body }))
    },
    onSuccess: async () => {
      toast('Saved.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
      await queries.invalidateQueries({ queryKey: ['expiring'] })
    },
  })
  return (
    <FormDialog
      title={`Details of ${secret.key}`}
      action="Save details"
      fields={DETAIL_FIELDS}
      error={change.error}
      isBusy={change.isPending}
      onSubmit={(values) => change.mutate(values)}
      onClose={onClose}
      intro={
        <p className="muted">
          {project}, {secret.env}
        </p>
      }
    >
      <DetailFields current={secret} error={change.error} />
    </FormDialog>
  )
}
