import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatAge } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { useAdministrator } from '../api/session.ts'
import type { ProjectKey } from '../api/types.ts'
import { actionsColumn } from '../frame/actions-column.tsx'
import { Countdown, ScopeText } from '../keys/cells.tsx'
import { keysOf } from './queries.ts'

/** The active keys of a project. */
export function Keys({ project }: { project: string }) {
  const { mayWrite } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(keysOf(project))
  const [revoked, setRevoked] = useState<ProjectKey>()
  if (data === undefined) return <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading keys…" />
  if (data.length === 0)
    return (
      <Empty title="No active keys.">
        <p>No application can read or write the secrets of this project. Rotate its key to create a new one.</p>
      </Empty>
    )
  const columns = columnsAt(dataUpdatedAt, mayWrite ? setRevoked : undefined)
  return (
    <>
      <Table caption="Keys" columns={columns} rows={data} rowKey={({ fingerprint }) => fingerprint} />
      {revoked !== undefined && (
        <RevokeKey project={project} revoked={revoked} all={data} onClose={() => setRevoked(undefined)} />
      )}
    </>
  )
}

function columnsAt(now: number, onRevoke: ((key: ProjectKey) => void) | undefined): readonly Column<ProjectKey>[] {
  return [
    {
      key: 'fingerprint',
      head: 'Fingerprint',
      isMain: true,
      cell: ({ fingerprint, until }) => (
        <>
          <code>{fingerprint}</code> {until === null && <span className="tag">newest</span>}
        </>
      ),
    },
    { key: 'scope', head: 'Access', isEvident: true, cell: ({ scope }) => <ScopeText scope={scope} /> },
    { key: 'since', head: 'Added', align: 'end', cell: ({ since }) => <Ago time={since} now={now} /> },
    {
      key: 'until',
      head: 'Expires',
      align: 'end',
      isEvident: true,
      cell: ({ until }) =>
        until === null ? <span className="muted">when replaced</span> : <Countdown until={until} />,
    },
    {
      key: 'used',
      head: 'Last used',
      align: 'end',
      cell: ({ lastUsedAt }) => <Ago time={lastUsedAt} now={now} />,
    },
    ...actionsColumn<ProjectKey>([
      { verb: 'Revoke', labelOf: ({ fingerprint }) => `Revoke ${fingerprint}`, isDangerous: true, onAct: onRevoke },
    ]),
  ]
}

function RevokeKey(props: { project: string; revoked: ProjectKey; all: readonly ProjectKey[]; onClose: () => void }) {
  const { project, revoked, all, onClose } = props
  const { fingerprint, lastUsedAt } = revoked
  const [openedAt] = useState(() => Date.now())
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () =>
      read(
        api.DELETE('/v1/admin/projects/{id}/keys/{fingerprint}', { params: { path: { id: project, fingerprint } } }),
      ),
    onSuccess: async () => {
      toast('Key revoked.')
      onClose()
      await queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title="Revoke this key?"
      action="Revoke key"
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
    >
      <p>
        Key <code>{fingerprint}</code> of project {project} stops working immediately. This cannot be undone.{' '}
        {lastUsedAt === null ? 'The key was never used.' : `The key was last used ${usedText(lastUsedAt, openedAt)}.`}
      </p>
      {all.length === 1 && (
        <p className="notice">
          This is the only active key: no application can read or write the secrets of {project} until you rotate.
        </p>
      )}
    </Confirm>
  )
}

function usedText(time: string, now: number): string {
  const age = formatAge(time, now)
  return age === 'now' ? 'less than a minute ago' : `${age} ago`
}
