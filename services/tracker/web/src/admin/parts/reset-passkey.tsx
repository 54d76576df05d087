import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { api } from '../../api/client.ts'
import { ownUser } from '../../api/queries.ts'
import { PasskeyConsequences } from '../../release/passkey-consequences.tsx'

/** Resets the passkey of a user. `active` is the number of torrents in their clients, if known. */
export function ResetPasskey(props: {
  user: { readonly id: string; readonly username: string }
  active?: number | undefined
  onClose: () => void
}) {
  const { user, active, onClose } = props
  const queries = useQueryClient()
  const reset = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/users/{id}/passkey', { params: { path: { id: user.id } } })),
    onSuccess: () => {
      toast('Passkey reset.')
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      // It may be the administrator's own, which the connection check uses.
      void queries.invalidateQueries({ queryKey: ownUser.queryKey })
      onClose()
    },
  })
  return (
    <ConfirmByName
      title={`Reset the passkey of ${user.username}?`}
      name={user.username}
      action="Reset passkey"
      error={reset.error}
      isBusy={reset.isPending}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
    >
      <PasskeyConsequences active={active} whose="their" />
      <p>Their account shows the new passkey.</p>
    </ConfirmByName>
  )
}
