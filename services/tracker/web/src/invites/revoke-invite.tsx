import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import type { Invite } from '../api/client.ts'

/**
 * Revokes an unused invite after a confirmation.
 *
 * @param props `owner` is the member who created it, if that is not the reader; `outdated` are the queries to repeat,
 *   even if the invite was used in the meantime
 */
export function RevokeInvite(props: {
  invite: Invite
  owner?: string
  send: (id: string) => Promise<unknown>
  outdated: readonly QueryKey[]
  onDone?: (id: string) => void
}) {
  const { invite, owner, send, outdated, onDone } = props
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => send(invite.id),
    onSuccess: () => {
      toast('Invite revoked.')
      setAsking(false)
      onDone?.(invite.id)
    },
    onError: toastProblem,
    onSettled: () => Promise.all(outdated.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
  const created = formatExactTime(invite.created)
  return (
    <>
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Revoke invite of ${created}`}>
        Revoke
      </Button>
      {isAsking && (
        <Confirm
          title={owner === undefined ? 'Revoke this invite?' : `Revoke this invite of ${owner}?`}
          action="Revoke invite"
          isBusy={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>It was created on {created}. Its link will no longer create an account.</p>
        </Confirm>
      )}
    </>
  )
}
