import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { api, type ManagedUser, type UserStats } from '../../api/client.ts'
import { ConfirmByName } from '../parts/confirm-by-name.tsx'

/** Gives a user a new passkey, once it was said what stops working. */
export function ResetPasskey(props: { user: ManagedUser; stats: UserStats | undefined; onClose: () => void }) {
  const { user, stats, onClose } = props
  const queries = useQueryClient()
  const reset = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/users/{id}/passkey', { params: { path: { id: user.id } } })),
    onSuccess: () => {
      toast(`${user.username} has a new passkey.`)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      onClose()
    },
  })
  const active = (stats?.seeding ?? 0) + (stats?.leeching ?? 0)
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
          every torrent in their clients ({formatCount(active)} active now), until its .torrent is downloaded again;
        </li>
        <li>every tool that has their Torznab key, until it gets the new one.</li>
      </ul>
    </ConfirmByName>
  )
}
