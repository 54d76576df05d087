import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, Empty, Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type ManagedUser } from '../../api/client.ts'
import { sessionColumns } from '../../standing/session-columns.tsx'
import { userSessions } from './queries.ts'

export function SessionsTab({ user }: { user: ManagedUser }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userSessions(user.id))
  const [isAsking, setAsking] = useState(false)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading sessions…" />
  if (data.length === 0) return <Empty title={`${user.username} has no active sessions.`} />
  return (
    <div>
      <Table caption="Sessions" columns={sessionColumns(dataUpdatedAt)} rows={data} rowKey={({ id }) => id} />
      <div className="form-actions">
        <Button kind="danger" onClick={() => setAsking(true)}>
          End all sessions
        </Button>
      </div>
      {isAsking && <EndSessions user={user} count={data.length} onClose={() => setAsking(false)} />}
    </div>
  )
}

function EndSessions({ user, count, onClose }: { user: ManagedUser; count: number; onClose: () => void }) {
  const queries = useQueryClient()
  const end = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/users/{id}/sessions', { params: { path: { id: user.id } } })),
    onSuccess: async () => {
      toast('All sessions ended.')
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
        This ends {formatNumberOf(count, 'session')}. The user can sign in again, and their clients keep seeding. To
        keep them out, suspend the account.
      </p>
    </ConfirmByName>
  )
}
