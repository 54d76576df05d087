import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, type TorznabUser } from '../../api/client.ts'
import { ResetPasskey } from '../parts/reset-passkey.tsx'
import { TORZNAB_KEY } from './queries.ts'

type Action = 'block' | 'reset'

/** What an administrator does to a user of the API; each asks first, but for lifting a block. */
export function UserActions({ usage }: { usage: TorznabUser }) {
  const [asking, setAsking] = useState<Action>()
  const { user, blocked } = usage
  const close = (): void => setAsking(undefined)
  return (
    <span className="row-actions">
      {blocked ? (
        <Unblock user={user} />
      ) : (
        <Button className="small" onClick={() => setAsking('block')} aria-label={`Block ${user.username}`}>
          Block
        </Button>
      )}
      <Button className="small" onClick={() => setAsking('reset')} aria-label={`Reset passkey of ${user.username}`}>
        Reset passkey
      </Button>
      {asking === 'block' && <Block usage={usage} onClose={close} />}
      {asking === 'reset' && <ResetPasskey user={user} onClose={close} />}
    </span>
  )
}

/** Lets somebody use the API again. */
export function Unblock({ user }: { user: TorznabUser['user'] }) {
  const unblock = useUserChange((id) => api.PATCH('/api/admin/users/{id}', patch(id, false)), {
    done: `${user.username} may use the API again.`,
  })
  return (
    <Button
      className="small"
      isBusy={unblock.isPending}
      onClick={() => unblock.mutate(user.id)}
      aria-label={`Unblock ${user.username}`}
    >
      Unblock
    </Button>
  )
}

function Block({ usage: { user, requests }, onClose }: { usage: TorznabUser; onClose: () => void }) {
  const block = useUserChange((id) => api.PATCH('/api/admin/users/{id}', patch(id, true)), {
    done: `${user.username} is blocked from the API.`,
    onClose,
  })
  return (
    <Confirm
      title={`Block ${user.username} from the API?`}
      action="Block"
      isBusy={block.isPending}
      onConfirm={() => block.mutate(user.id)}
      onCancel={onClose}
    >
      <p>
        All their tools are refused with error 102 until the block is lifted; so far they sent{' '}
        {requests === 1 ? '1 request' : `${formatCount(requests)} requests`}. They can still sign in, and their clients
        go on seeding.
      </p>
    </Confirm>
  )
}

function patch(id: string, apiBlocked: boolean) {
  return { params: { path: { id } }, body: { apiBlocked } }
}

/** Sends a change of a user and has everything read again that shows it. */
function useUserChange(
  send: (id: string) => Parameters<typeof read>[0],
  { done, onClose }: { done: string; onClose?: () => void },
) {
  const queries = useQueryClient()
  return useMutation<unknown, ApiError, string>({
    mutationFn: (id) => read(send(id)),
    onSuccess: async () => {
      toast(done)
      onClose?.()
      await queries.invalidateQueries({ queryKey: TORZNAB_KEY })
    },
    onError: toastProblem,
  })
}
