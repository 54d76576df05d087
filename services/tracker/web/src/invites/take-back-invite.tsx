import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import type { Invite } from '../api/client.ts'

/**
 * Takes back an invite that nobody used; asks first.
 *
 * @param props `maker` made it, where it is not one's own; `outdated` is what changes with it, also where somebody used the
 *   invite meanwhile
 */
export function TakeBackInvite(props: {
  invite: Invite
  maker?: string
  send: (id: string) => Promise<unknown>
  outdated: readonly QueryKey[]
  onDone?: (id: string) => void
}) {
  const { invite, maker, send, outdated, onDone } = props
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const takeBack = useMutation<unknown, ApiError>({
    mutationFn: () => send(invite.id),
    onSuccess: () => {
      toast(maker === undefined ? 'The invite was taken back.' : `The invite of ${maker} was taken back.`)
      setAsking(false)
      onDone?.(invite.id)
    },
    onError: toastProblem,
    onSettled: () => Promise.all(outdated.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
  const made = formatExactTime(invite.created)
  return (
    <>
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Take back the invite made on ${made}`}>
        Take back
      </Button>
      {isAsking && (
        <Confirm
          title={maker === undefined ? 'Take back this invite?' : `Take back this invite of ${maker}?`}
          action="Take back"
          isBusy={takeBack.isPending}
          onConfirm={() => takeBack.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>
            {maker === undefined ? 'You' : 'They'} made it on {made}. Nobody can register with it any more.
          </p>
        </Confirm>
      )}
    </>
  )
}
