import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { api, type ManagedUser } from '../../api/client.ts'

/** Removes all second factors of a user. */
export function RemoveFactors({ user, onClose }: { user: ManagedUser; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/users/{id}/factors', { params: { path: { id: user.id } } })),
    onSuccess: () => {
      toast('Second factor removed.')
      onClose()
      return queries.invalidateQueries({ queryKey: ['admin'] })
    },
  })
  return (
    <ConfirmByName
      title={`Remove the second factor of ${user.username}?`}
      name={user.username}
      action="Remove second factor"
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        Their password alone will be enough to sign in, their recovery codes stop working, and all their sessions end.
        They receive a notice. Make sure that the request comes from the user.
      </p>
    </ConfirmByName>
  )
}
