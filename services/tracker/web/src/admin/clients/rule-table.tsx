import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Empty, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api, type ClientRule, type Clients } from '../../api/client.ts'
import { showChanged } from './queries.ts'
import { RemoveRule } from './remove-rule.tsx'
import { ruleKey, versionsText } from './rule-text.ts'

const COLUMNS: readonly Column<ClientRule>[] = [
  { head: 'Peer ID', isMain: true, cell: ({ prefix }) => <code>{prefix}</code> },
  { head: 'Versions', isEvident: true, cell: versionsText },
  {
    head: 'Action',
    isEvident: true,
    cell: ({ verdict }) =>
      verdict === 'allow' ? (
        'Allow'
      ) : (
        <span className="tag" data-tone="bad">
          Deny
        </span>
      ),
  },
  {
    head: 'Actions',
    isEvident: true,
    cell: (rule) => (
      <RemoveRule rule={rule} label={`Remove rule ${rule.verdict} ${rule.prefix} ${versionsText(rule)}`}>
        Remove
      </RemoveRule>
    ),
  },
]

/** The rules in force. */
export function RuleTable({ data: { rules, isDefault } }: { data: Clients }) {
  return (
    <>
      {rules.length === 0 ? (
        <Empty title="No rules: every client can announce." />
      ) : (
        <Table caption="Client rules" columns={COLUMNS} rows={rules} rowKey={ruleKey} />
      )}
      {isDefault ? (
        <p className="muted">
          These are the default rules, from the server configuration: <code>CLIENTS_ALLOWED</code> and{' '}
          <code>CLIENTS_DENIED</code>.
        </p>
      ) : (
        <Reset />
      )}
    </>
  )
}

function Reset() {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const reset = useMutation<Clients, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/clients/rules')),
    onSuccess: (changed) => {
      toast('Rules reset.')
      showChanged(queries, changed)
      setAsking(false)
    },
    onError: toastProblem,
  })
  return (
    <div className="form-actions">
      <Button onClick={() => setAsking(true)}>Reset to default rules</Button>
      {isAsking && (
        <Confirm
          title="Reset to the default rules?"
          action="Reset rules"
          isBusy={reset.isPending}
          onConfirm={() => reset.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>This deletes all rules that were added here.</p>
        </Confirm>
      )}
    </div>
  )
}
