import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { sessions } from '../api/queries.ts'
import { useAdministrator } from '../api/session.ts'
import type { Session } from '../api/types.ts'
import { actionsColumn } from '../frame/actions-column.tsx'

/** The sessions of administrators, if there are any. */
export function Sessions() {
  const { mayRevokeSessions } = useAdministrator()
  const { data = [] } = useQuery(sessions)
  const [revoked, setRevoked] = useState<Session>()
  if (data.length === 0) return null
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <Table
        caption="Sessions"
        columns={columnsFor(mayRevokeSessions ? setRevoked : undefined)}
        rows={data}
        rowKey={({ id }) => id}
      />
      {revoked !== undefined && <RevokeSession session={revoked} onClose={() => setRevoked(undefined)} />}
    </section>
  )
}

function columnsFor(onRevoke: ((session: Session) => void) | undefined): readonly Column<Session>[] {
  return [
    { head: 'Name', isMain: true, cell: ({ name }) => <bdi>{name}</bdi> },
    { head: 'Actor', cell: ({ actor }) => <span className="names">{actor}</span> },
    { head: 'Roles', isEvident: true, cell: ({ roles }) => <span className="names">{roles.join('; ')}</span> },
    { head: 'Signed in', align: 'end', cell: ({ createdAt }) => formatExactTime(createdAt) },
    { head: 'Ends', align: 'end', cell: ({ expiresAt }) => formatExactTime(expiresAt) },
    ...actionsColumn<Session>([
      { verb: 'Revoke', labelOf: ({ name }) => `Revoke session of ${name}`, isDangerous: true, onAct: onRevoke },
    ]),
  ]
}

function RevokeSession({ session: { id, name }, onClose }: { session: Session; onClose: () => void }) {
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => read(api.DELETE('/v1/admin/sessions/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      toast(`Session of ${name} revoked.`)
      onClose()
      await queries.invalidateQueries({ queryKey: sessions.queryKey })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Revoke session of ${name}?`}
      action="Revoke session"
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
    >
      <p>
        They are signed out immediately, but can sign in again while their token is valid or one of their groups has a
        role.
      </p>
    </Confirm>
  )
}
