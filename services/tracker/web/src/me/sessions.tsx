import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { account, api, type Session } from '../api/client.ts'
import { sessionColumns } from '../standing/session-columns.tsx'
import { nameOfProgram } from '../standing/user-agent.ts'

const sessions = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: async ({ signal }) =>
    (await read(api.GET('/api/auth/sessions', { params: { query: { limit: 100 } }, signal }))).items,
})

export function Sessions() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(sessions)
  const [isAsking, setAsking] = useState(false)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading sessions…" />
  return (
    <>
      <Table caption="Sessions" columns={columnsAt(dataUpdatedAt)} rows={data} rowKey={({ id }) => id} />
      <div className="form-actions">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Sign out everywhere
        </Button>
      </div>
      {isAsking && <SignOutEverywhere count={data.length} onClose={() => setAsking(false)} />}
    </>
  )
}

function columnsAt(now: number): readonly Column<Session>[] {
  return [
    ...sessionColumns<Session>(now, ({ current }) => current),
    { head: 'Action', isEvident: true, cell: (session) => <EndSession session={session} /> },
  ]
}

function EndSession({ session: { id, current, userAgent } }: { session: Session }) {
  const queries = useQueryClient()
  const end = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/auth/sessions/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      toast('Session ended.')
      return queries.invalidateQueries({ queryKey: sessions.queryKey })
    },
    onError: toastProblem,
  })
  if (current) return null
  return (
    <Button
      className="small"
      isBusy={end.isPending}
      onClick={() => end.mutate()}
      aria-label={`End session of ${nameOfProgram(userAgent)}`}
    >
      End session
    </Button>
  )
}

function SignOutEverywhere({ count, onClose }: { count: number; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const endAll = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/auth/sessions')),
    onSuccess: async () => {
      await navigate({ to: '/login' })
      account.signedIn(undefined)
      queries.clear()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title="Sign out everywhere?"
      action="Sign out everywhere"
      isBusy={endAll.isPending}
      onConfirm={() => endAll.mutate()}
      onCancel={onClose}
    >
      <p>
        This ends {count === 1 ? 'this session' : `all ${count} sessions, including this one`}. Your clients keep
        seeding.
      </p>
    </Confirm>
  )
}
