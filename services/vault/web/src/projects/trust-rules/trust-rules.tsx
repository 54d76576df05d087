import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Confirm, Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Ago, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useAdministrator } from '../../api/session.ts'
import type { TrustRule } from '../../api/types.ts'
import { actionsColumn } from '../../frame/actions-column.tsx'
import { ScopeText } from '../../keys/cells.tsx'
import { AddTrustRule } from './add-trust-rule.tsx'
import { trustRulesOf } from './queries.ts'

/** Whose ID tokens admit keys of a project. */
export function TrustRules({ project }: { project: string }) {
  const { mayWrite } = useAdministrator(project)
  const { data, error, refetch, dataUpdatedAt } = useQuery(trustRulesOf(project))
  const [asked, setAsked] = useState<'add' | TrustRule>()
  const close = (): void => setAsked(undefined)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading trust rules…" />
  return (
    <>
      <div className="manage-head">
        <div className="manage-filters">
          {mayWrite && (
            <Button kind="main" onClick={() => setAsked('add')}>
              Add trust rule
            </Button>
          )}
        </div>
        <p className="muted" role="status">
          {formatNumberOf(data.length, 'trust rule')}
        </p>
      </div>
      {data.length === 0 ? (
        <Empty title="No trust rules.">
          <p>
            Add one to let jobs and pods exchange the ID tokens of their platform for short-lived keys, instead of
            storing a key.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Trust rules"
          columns={columnsAt(dataUpdatedAt, mayWrite ? setAsked : undefined)}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      {asked === 'add' && <AddTrustRule project={project} onClose={close} />}
      {asked !== undefined && asked !== 'add' && <RemoveTrustRule project={project} rule={asked} onClose={close} />}
    </>
  )
}

function columnsAt(now: number, onRemove: ((rule: TrustRule) => void) | undefined): readonly Column<TrustRule>[] {
  return [
    { head: 'Name', isMain: true, cell: ({ name }) => <span className="long-name">{name}</span> },
    {
      head: 'Trusts',
      isEvident: true,
      cell: ({ issuer, claims }) => (
        <ul className="plain-list">
          <li>{issuer}</li>
          {Object.entries(claims).map(([claim, pattern]) => (
            <li key={claim}>
              <code>
                {claim}={pattern}
              </code>
            </li>
          ))}
        </ul>
      ),
    },
    { head: 'Audience', cell: ({ audience }) => audience },
    {
      head: 'Keys',
      isEvident: true,
      cell: ({ scope, minutes }) => (
        <>
          <ScopeText scope={scope} /> <span className="muted">for {formatNumberOf(minutes, 'minute')}</span>
        </>
      ),
    },
    { head: 'Added', align: 'end', cell: ({ createdAt }) => <Ago time={createdAt} now={now} /> },
    ...actionsColumn<TrustRule>([
      { verb: 'Remove', labelOf: ({ name }) => `Remove ${name}`, isDangerous: true, onAct: onRemove },
    ]),
  ]
}

function RemoveTrustRule({ project, rule, onClose }: { project: string; rule: TrustRule; onClose: () => void }) {
  const queries = useQueryClient()
  const { id: ruleId, name } = rule
  const remove = useMutation({
    mutationFn: () =>
      read(api.DELETE('/v1/admin/projects/{id}/trust-rules/{ruleId}', { params: { path: { id: project, ruleId } } })),
    onSuccess: async () => {
      toast('Trust rule removed.')
      onClose()
      await queries.invalidateQueries()
    },
    onError: toastProblem,
  })
  return (
    <Confirm
      title={`Remove the trust rule ${name}?`}
      action="Remove trust rule"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>Its keys stop working immediately, and jobs that rely on it can no longer read secrets of {project}.</p>
    </Confirm>
  )
}
