import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDate, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { administrators } from '../api/queries.ts'
import { ROLE_NAMES, useAdministrator } from '../api/session.ts'
import type { Administrator } from '../api/types.ts'
import { actionsColumn } from '../frame/actions-column.tsx'
import { AddAdministrator } from './add-administrator.tsx'
import { Sessions } from './sessions.tsx'

/** Named administrators. Only the admin token of the configuration adds and removes them. */
export function AdministratorsPage() {
  const { mayManageAdministrators } = useAdministrator()
  const { data, error, refetch, dataUpdatedAt } = useQuery(administrators)
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Administrator>()
  return (
    <>
      <PageHead title="Administrators">
        {mayManageAdministrators && (
          <Button kind="main" onClick={() => setAdding(true)}>
            Add administrator
          </Button>
        )}
      </PageHead>
      <p className="muted prose">
        Each administrator has a personal token, which you can limit or remove, and a name in the audit log. Only the
        admin token from the configuration can add and remove administrators.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading administrators…" />
      ) : data.length === 0 ? (
        <Empty title="No administrators yet.">
          <p>
            Everyone shares the admin token, so the audit log cannot tell them apart. Add a named administrator for each
            person.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Administrators"
          columns={columnsAt(dataUpdatedAt, mayManageAdministrators ? setRemoved : undefined)}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      <Sessions />
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
    { head: 'Name', isMain: true, cell: ({ name }) => <bdi>{name}</bdi> },
    { head: 'Role', isEvident: true, cell: ({ role }) => ROLE_NAMES[role] },
    {
      head: 'Projects',
      cell: ({ projects }) => (
        <span className="names">{projects === null ? <span className="muted">all</span> : projects.join(', ')}</span>
      ),
    },
    { head: 'Added', align: 'end', cell: ({ createdAt }) => formatDate(createdAt) },
    { head: 'Expires', align: 'end', cell: ({ expiresAt }) => <Expiry expiresAt={expiresAt} now={now} /> },
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
      toast(`${removed.name} removed.`)
      onClose()
      await queries.invalidateQueries({ queryKey: administrators.queryKey })
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Remove ${removed.name}?`}
      action="Remove administrator"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>Their token stops working immediately. Their entries in the audit log stay.</p>
    </Confirm>
  )
}
