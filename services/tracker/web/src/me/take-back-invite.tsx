import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, type Invite } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'

/** Takes back an invite that nobody used; asks first. */
export function TakeBackInvite({ invite: { id, created }, onDone }: { invite: Invite; onDone: () => void }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const takeBack = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/user/invites/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      toast('The invite was taken back.')
      setAsking(false)
      onDone()
    },
    onError: toastProblem,
    // The invites and the allowance, also where somebody used the invite meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ownUser.queryKey }),
  })
  const made = formatExactTime(created)
  return (
    <>
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Take back the invite made on ${made}`}>
        Take back
      </Button>
      {isAsking && (
        <Confirm
          title="Take back this invite?"
          action="Take back"
          isBusy={takeBack.isPending}
          onConfirm={() => takeBack.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>You made it on {made}. Nobody can register with it any more.</p>
        </Confirm>
      )}
    </>
  )
}
