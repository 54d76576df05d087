import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, read } from '../api/client.ts'
import type { SecretMetadata } from '../api/types.ts'
import { versionsOf } from './queries.ts'

/** Deletes a secret, once it was said what goes. */
export function DeleteSecret(props: { project: string; secret: SecretMetadata; onClose: () => void }) {
  const { project, secret, onClose } = props
  const queries = useQueryClient()
  const { data: versions } = useQuery(versionsOf(secret.id))
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/v1/admin/secrets/{id}', { params: { path: { id: secret.id } } })),
    onSuccess: async () => {
      toast(`${secret.key} is deleted.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
    },
    onError: toastProblem,
  })
  const count = versions?.length
  return (
    <Confirm
      title="Delete this secret?"
      action="Delete the secret"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        <code>{secret.key}</code> of {project} in {secret.env} goes for good, with{' '}
        {count === undefined ? 'all its versions' : count === 1 ? 'its only version' : `all its ${count} versions`}.
        Applications miss it from their next fetch on.
      </p>
    </Confirm>
  )
}
