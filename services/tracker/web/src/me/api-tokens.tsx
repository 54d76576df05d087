import { queryOptions, useQuery } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { Table } from '@vault-and-tracker/web-kit/table'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { tokenColumns } from '../standing/token-columns.tsx'
import { CreateToken } from './create-token.tsx'

const apiTokens = queryOptions({
  queryKey: ['me', 'tokens'],
  queryFn: async ({ signal }) => (await read(api.GET('/api/tokens', { signal }))).items,
})

const REVOCATION = {
  send: (id: string) => read(api.DELETE('/api/tokens/{id}', { params: { path: { id } } })),
  outdated: [apiTokens.queryKey],
  consequence: 'Programs that use it, and clients that use its torrents, stop immediately. It cannot be restored.',
}

/** The member's API tokens. */
export function ApiTokens() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(apiTokens)
  const [isCreating, setCreating] = useState(false)
  return (
    <section className="stack" aria-labelledby="api-tokens">
      <h2 id="api-tokens">API tokens</h2>
      <p className="prose">
        Give each program a token of its own instead of the passkey. A token does only what you allow, and you can
        revoke it without affecting other programs.
      </p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading API tokens…" />
      ) : data.length === 0 ? (
        <Empty title="No API tokens yet." />
      ) : (
        <Table
          caption="API tokens"
          columns={tokenColumns(dataUpdatedAt, REVOCATION)}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      <div className="form-actions">
        <Button onClick={() => setCreating(true)}>Create API token</Button>
      </div>
      {isCreating && <CreateToken outdated={apiTokens.queryKey} onClose={() => setCreating(false)} />}
    </section>
  )
}
