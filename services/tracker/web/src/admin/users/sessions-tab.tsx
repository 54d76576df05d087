import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, Empty, Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type ManagedUser, type UserSession } from '../../api/client.ts'
import { nameOfProgram } from '../../api/user-agent.ts'
import { userSessions } from './queries.ts'

/** Where a user is signed in, and the way to end that. */
export function SessionsTab({ user }: { user: ManagedUser }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userSessions(user.id))
  const [isAsking, setAsking] = useState(false)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="The sessions are loading." />
  if (data.length === 0) return <Empty title={`${user.username} is signed in nowhere.`} />
  return (
    <div>
      <Table caption="Sessions" columns={columnsAt(dataUpdatedAt)} rows={data} rowKey={({ id }) => id} />
      <div className="form-actions">
        <Button kind="danger" onClick={() => setAsking(true)}>
          End all sessions
        </Button>
      </div>
      {isAsking && <EndSessions user={user} count={data.length} onClose={() => setAsking(false)} />}
    </div>
  )
}

function columnsAt(now: number): readonly Column<UserSession>[] {
  return [
    {
      key: 'program',
      head: 'Program',
      isMain: true,
      cell: ({ userAgent }) => <span title={userAgent}>{nameOfProgram(userAgent)}</span>,
    },
    { key: 'address', head: 'Address', cell: ({ address }) => address },
    { key: 'seen', head: 'Last seen', align: 'end', cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
    { key: 'created', head: 'Signed in', align: 'end', cell: ({ created }) => <Ago time={created} now={now} /> },
  ]
}

function EndSessions({ user, count, onClose }: { user: ManagedUser; count: number; onClose: () => void }) {
  const queries = useQueryClient()
  const end = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/users/{id}/sessions', { params: { path: { id: user.id } } })),
    onSuccess: async () => {
      toast(`All sessions of ${user.username} have ended.`)
      onClose()
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      await queries.invalidateQueries({ queryKey: userSessions(user.id).queryKey })
    },
  })
  return (
    <ConfirmByName
      title={`End all sessions of ${user.username}?`}
      name={user.username}
      action="End all sessions"
      error={end.error}
      isBusy={end.isPending}
      onConfirm={() => end.mutate()}
      onCancel={onClose}
    >
      <p>
        {count === 1 ? '1 session ends' : `${count} sessions end`}. They can sign in again, and their clients go on
        seeding: to keep them out, suspend the account.
      </p>
    </ConfirmByName>
  )
}
