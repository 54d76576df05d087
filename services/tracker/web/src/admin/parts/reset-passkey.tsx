import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { api } from '../../api/client.ts'
import { ownUser } from '../../api/queries.ts'

/**
 * Gives a user a new passkey, once it was said what stops working.
 *
 * @param props `active` is the number of torrents in their clients now, where it is known
 */
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
      toast(`${user.username} has a new passkey.`)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      // It may have been the administrator's own, which the connection check uses.
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
      <p>These stop working at once:</p>
      <ul className="bullets">
        <li>
          every torrent in their clients{active !== undefined && ` (${formatCount(active)} active now)`}, until its
          .torrent is downloaded again;
        </li>
        <li>every tool that has their Torznab key, until it gets the new one. They find it in their account.</li>
      </ul>
    </ConfirmByName>
  )
}
