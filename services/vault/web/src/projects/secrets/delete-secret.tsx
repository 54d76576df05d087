import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, read } from '../../api/client.ts'
import type { SecretMetadata } from '../../api/types.ts'
import { versionsOf } from './queries.ts'

export function DeleteSecret(props: { project: string; secret: SecretMetadata; onClose: () => void }) {
  const { project, secret, onClose } = props
  const queries = useQueryClient()
  const { data: versions } = useQuery(versionsOf(secret.id))
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/v1/admin/secrets/{id}', { params: { path: { id: secret.id } } })),
    onSuccess: async () => {
      toast(`Secret ${secret.key} deleted.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
    },
    onError: toastProblem,
  })
  const count = versions?.length
  return (
    <Confirm
      title={`Delete secret ${secret.key}?`}
      action="Delete secret"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        This permanently deletes <code>{secret.key}</code> in {secret.env} of project {project}, with{' '}
        {count === undefined ? 'all its versions' : count === 1 ? 'its only version' : `all ${count} versions`}.
        Applications stop receiving it at their next fetch.
      </p>
    </Confirm>
  )
}
