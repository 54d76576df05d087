import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, SecretOffer } from '@vault-and-tracker/web-kit/feedback'
import { api, type ManagedUser } from '../../api/client.ts'
import { userSessions } from './queries.ts'

/** Resets the password of a user and shows the new one once. */
export function ResetPassword({ user, onClose }: { user: ManagedUser; onClose: () => void }) {
  const queries = useQueryClient()
  const reset = useMutation<{ password: string }, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/users/{id}/password', { params: { path: { id: user.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      void queries.invalidateQueries({ queryKey: userSessions(user.id).queryKey })
    },
    // Keeps the password out of the cache.
    gcTime: 0,
  })
  if (reset.data !== undefined)
    return (
      <SecretOffer
        title={`New password of ${user.username}`}
        text={reset.data.password}
        what="password"
        warning="You have not copied the password. It cannot be shown again. If you lose it, reset the password again."
        onClose={onClose}
      >
        <p>
          The tracker stores only a hash, so the password is shown only once. Send it through a private channel. The
          user can change it in their account.
        </p>
      </SecretOffer>
    )
  return (
    <ConfirmByName
      title={`Reset the password of ${user.username}?`}
      name={user.username}
      action="Reset password"
      error={reset.error}
      isBusy={reset.isPending}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
    >
      <p>
        The current password stops working and all sessions of the user end. Their clients and tools keep working. Make
        sure that the request comes from the user: the new password is shown to you.
      </p>
    </ConfirmByName>
  )
}
