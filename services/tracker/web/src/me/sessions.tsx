import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type Session } from '../api/client.ts'
import { nameOfProgram } from '../api/user-agent.ts'

const sessions = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: async ({ signal }) =>
    (await read(api.GET('/api/auth/sessions', { params: { query: { limit: 100 } }, signal }))).items,
})

/** Where one is signed in, and the way to end that. */
export function Sessions() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(sessions)
  const [isAsking, setAsking] = useState(false)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Sessions are loading." />
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
    {
      key: 'program',
      head: 'Program',
      isMain: true,
      cell: ({ userAgent, current }) => (
        <>
          <span title={userAgent}>{nameOfProgram(userAgent)}</span>
          {current && ' '}
          {current && (
            <span className="tag" data-tone="good">
              This one
            </span>
          )}
        </>
      ),
    },
    { key: 'address', head: 'Address', cell: ({ address }) => address },
    { key: 'seen', head: 'Last seen', align: 'end', cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
    { key: 'created', head: 'Signed in', align: 'end', cell: ({ created }) => <Ago time={created} now={now} /> },
    { key: 'end', head: 'End', isEvident: true, cell: (session) => <EndSession session={session} /> },
  ]
}

function EndSession({ session: { id, current, userAgent } }: { session: Session }) {
  const queries = useQueryClient()
  const end = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/auth/sessions/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      toast('The session has ended.')
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
      aria-label={`End the session of ${nameOfProgram(userAgent)}`}
    >
      End
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
      <p>{count === 1 ? 'This session ends.' : `${count} sessions end, this one too.`} Your clients go on seeding.</p>
    </Confirm>
  )
}
