import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { api, type ManagedUser } from '../../api/client.ts'
import { OwnPassword } from '../../standing/own-password.tsx'

/** Removes all second factors of a user, for the password of the administrator. */
export function RemoveFactors({ user, onClose }: { user: ManagedUser; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation<unknown, ApiError, string>({
    mutationFn: (password) =>
      read(api.POST('/api/admin/users/{id}/factors/remove', { params: { path: { id: user.id } }, body: { password } })),
    onSuccess: () => {
      toast('Second factor removed.')
      onClose()
      return queries.invalidateQueries({ queryKey: ['admin'] })
    },
  })
  return (
    <FormDialog
      title={`Remove the second factor of ${user.username}?`}
      action="Remove second factor"
      kind="danger"
      isDraft={false}
      fields={[]}
      error={remove.error}
      isBusy={remove.isPending}
      onSubmit={({ password = '' }) => remove.mutate(password)}
      onClose={onClose}
      intro={
        <p>
          Their password alone will be enough to sign in, their recovery codes stop working, and all their sessions end.
          They receive a notice. Make sure that the request comes from the user.
        </p>
      }
    >
      <OwnPassword />
    </FormDialog>
  )
}
