import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDate, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { administrators } from '../api/queries.ts'
import type { Administrator } from '../api/types.ts'
import { useAdministrator } from '../api/use-administrator.ts'
import { actionsColumn } from '../frame/actions-column.tsx'
import { AddAdministrator } from './add-administrator.tsx'

const ROLE_NAMES = { administrator: 'Administrator', auditor: 'Auditor' } as const

/** Who has a token of their own. Whoever has the admin token of the configuration adds and removes them. */
export function AdministratorsPage() {
  const { mayManageAdministrators } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(administrators)
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Administrator>()
  usePageTitle('Administrators')
  return (
    <>
      <header className="manage-head">
        <h1>Administrators</h1>
        {mayManageAdministrators && (
          <Button kind="main" onClick={() => setAdding(true)}>
            Add an administrator
          </Button>
        )}
      </header>
      <p className="muted prose">
        Each has a token of their own, which can be limited and ended by itself, and a name in the audit log. The admin
        token of the configuration alone adds and removes them.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="The administrators are loading." />
      ) : data.length === 0 ? (
        <Empty title="Nobody has a token of their own.">
          <p>Everybody who works here uses the admin token, and the audit log cannot tell them apart.</p>
        </Empty>
      ) : (
        <Table
          caption="Administrators"
          columns={columnsAt(dataUpdatedAt, mayManageAdministrators ? setRemoved : undefined)}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      {isAdding && <AddAdministrator onClose={() => setAdding(false)} />}
      {removed !== undefined && <RemoveAdministrator removed={removed} onClose={() => setRemoved(undefined)} />}
    </>
  )
}

function columnsAt(
  now: number,
  onRemove: ((administrator: Administrator) => void) | undefined,
): readonly Column<Administrator>[] {
  return [
    { key: 'name', head: 'Name', isMain: true, cell: ({ name }) => name },
    { key: 'role', head: 'Role', isEvident: true, cell: ({ role }) => ROLE_NAMES[role] },
    {
      key: 'projects',
      head: 'Projects',
      cell: ({ projects }) => (
        <span className="names">{projects === null ? <span className="muted">all</span> : projects.join(', ')}</span>
      ),
    },
    { key: 'created', head: 'Added', align: 'end', cell: ({ createdAt }) => formatDate(createdAt) },
    {
      key: 'expires',
      head: 'Expires',
      align: 'end',
      cell: ({ expiresAt }) => <Expiry expiresAt={expiresAt} now={now} />,
    },
    ...actionsColumn<Administrator>([
      { verb: 'Remove', labelOf: ({ name }) => `Remove ${name}`, isDangerous: true, onAct: onRemove },
    ]),
  ]
}

function Expiry({ expiresAt, now }: { expiresAt: string | null; now: number }) {
  if (expiresAt === null) return <span className="muted">never</span>
  const isOver = Date.parse(expiresAt) <= now
  return (
    <time dateTime={expiresAt} title={formatExactTime(expiresAt)}>
      {formatDate(expiresAt)}{' '}
      {isOver && (
        <span className="tag" data-tone="warn">
          expired
        </span>
      )}
    </time>
  )
}

function RemoveAdministrator({ removed, onClose }: { removed: Administrator; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/v1/admin/administrators/{id}', { params: { path: { id: removed.id } } })),
    onSuccess: async () => {
      toast(`The token of ${removed.name} has ended.`)
      onClose()
      await queries.invalidateQueries({ queryKey: administrators.queryKey })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Remove ${removed.name}?`}
      action="Remove"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>Their token ends at once, in every replica. What they did stays in the audit log.</p>
    </Confirm>
  )
}
