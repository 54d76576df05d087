import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api, type Invite, type ManagedUser } from '../../api/client.ts'

/** Takes back an invite of a user that nobody used; asks first. */
export function TakeBackInvite({ invite: { id, created }, user }: { invite: Invite; user: ManagedUser }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const takeBack = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/invites/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      toast(`The invite of ${user.username} was taken back.`)
      setAsking(false)
    },
    onError: toastProblem,
    // The invites and the allowance, also where somebody used the invite meanwhile.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      return queries.invalidateQueries({ queryKey: ['admin', 'users'] })
    },
  })
  const made = formatExactTime(created)
  return (
    <>
      <Button className="small" onClick={() => setAsking(true)} aria-label={`Take back the invite made on ${made}`}>
        Take back
      </Button>
      {isAsking && (
        <Confirm
          title={`Take back this invite of ${user.username}?`}
          action="Take back"
          isBusy={takeBack.isPending}
          onConfirm={() => takeBack.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>They made it on {made}. Nobody can register with it any more.</p>
        </Confirm>
      )}
    </>
  )
}
