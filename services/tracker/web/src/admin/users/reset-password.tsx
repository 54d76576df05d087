import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, SecretOffer } from '@vault-and-tracker/web-kit/feedback'
import { api, type ManagedUser } from '../../api/client.ts'
import { userSessions } from './queries.ts'

/** Gives a user a new password, once it was said what ends, and shows it this once. */
export function ResetPassword({ user, onClose }: { user: ManagedUser; onClose: () => void }) {
  const queries = useQueryClient()
  const reset = useMutation<{ password: string }, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/users/{id}/password', { params: { path: { id: user.id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      void queries.invalidateQueries({ queryKey: userSessions(user.id).queryKey })
    },
    // The password stays in no cache.
    gcTime: 0,
  })
  if (reset.data !== undefined)
    return (
      <SecretOffer
        title={`The new password of ${user.username}`}
        text={reset.data.password}
        what="password"
        warning="It is not copied. Nobody can show it again: without it, reset the password once more."
        onClose={onClose}
      >
        <p>
          The tracker keeps a hash of it only, so this is the one time it is shown. Hand it over by a way that nobody
          reads; they can change it in their account.
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
        Their password stops working and all their sessions end. You are shown the new one to hand it over: make sure
        that it is them who asked. Their clients and tools go on.
      </p>
    </ConfirmByName>
  )
}
