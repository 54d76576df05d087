import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { api, read } from '../../api/client.ts'
import type { Webhook } from '../../api/types.ts'

/** Adds a webhook to a project, or changes the URL of one. */
export function StoreWebhook(props: { project: string; changed?: Webhook; onClose: () => void }) {
  const { project, changed, onClose } = props
  const queries = useQueryClient()
  const store = useMutation<unknown, ApiError, Values>({
    mutationFn: (values) => {
      const body = { url: (values['url'] ?? '').trim() }
      if (changed === undefined)
        return read(api.POST('/v1/admin/projects/{id}/webhooks', { params: { path: { id: project } }, body }))
      const path = { id: project, webhookId: changed.id }
      return read(api.PATCH('/v1/admin/projects/{id}/webhooks/{webhookId}', { params: { path }, body }))
    },
    onSuccess: async () => {
      toast(changed === undefined ? 'Webhook added.' : 'Webhook changed.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['webhooks', project] })
    },
  })
  return (
    <FormDialog
      title={changed === undefined ? `Add a webhook to ${project}` : 'Change this webhook'}
      action={changed === undefined ? 'Add webhook' : 'Change webhook'}
      fields={['url']}
      error={store.error}
      isBusy={store.isPending}
      onSubmit={(values) => store.mutate(values)}
      onClose={onClose}
      intro={
        <p>
          {changed === undefined
            ? 'The vault sends each change of secrets and keys to this URL, and repeats failed deliveries for a day.'
            : `Events that wait for ${changed.url} are sent to the new URL.`}
        </p>
      }
    >
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        maxLength={2000}
        placeholder="https://deploy.example.org/vault"
        autoComplete="off"
        spellCheck={false}
        data-focus=""
        hint="If the receiver needs a secret, put it in the query, which is not shown again."
        error={store.error}
      />
    </FormDialog>
  )
}
