import { useQuery } from '@tanstack/react-query'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import type { ClientRule } from '../../api/client.ts'
import '../manage.css'
import { clients } from './queries.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { RuleTable } from './rule-table.tsx'
import { SeenTable } from './seen-table.tsx'
import { TestClient } from './test-client.tsx'

const NEW: ClientRule = { verdict: 'deny', prefix: '', condition: 'any', version: null }

/** The clients in use, and the rules about them. */
export function ClientsPage() {
  const { data, error, refetch } = useQuery(clients)
  const [draft, setDraft] = useState<ClientRule>()
  if (data === undefined)
    return (
      <>
        <PageHead title="Clients" />
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading clients…" />
      </>
    )
  return (
    <>
      <PageHead title="Clients">
        <Button kind="main" onClick={() => setDraft(NEW)}>
          Add rule
        </Button>
      </PageHead>
      <section className="block-list" aria-labelledby="client-rules">
        <h2 id="client-rules">Rules</h2>
        <p className="muted">
          A matching deny rule refuses a client. If there are allow rules, clients that match none are refused too.
          Changes apply within a second.
        </p>
        <RuleTable data={data} />
      </section>
      <TestClient />
      <section className="block-list" aria-labelledby="clients-seen">
        <h2 id="clients-seen">Clients of the last 30 days</h2>
        {data.clients.length === 0 ? (
          <Empty title="No clients yet.">
            <p>While it runs, the tracker counts the clients of all peers every few minutes.</p>
          </Empty>
        ) : (
          <>
            <p className="muted">Refused clients are not counted.</p>
            <SeenTable clients={data.clients} onRule={setDraft} />
          </>
        )}
      </section>
      {draft !== undefined && (
        <RuleDialog
          draft={draft}
          hasAllowRules={data.rules.some(({ verdict }) => verdict === 'allow')}
          onClose={() => setDraft(undefined)}
        />
      )}
    </>
  )
}
