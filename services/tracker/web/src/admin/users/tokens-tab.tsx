import { useQuery } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Table } from '@vault-and-tracker/web-kit/table'
import { api, type ManagedUser } from '../../api/client.ts'
import { tokenColumns } from '../../standing/token-columns.tsx'
import { userTokens } from './queries.ts'

export function TokensTab({ user }: { user: ManagedUser }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userTokens(user.id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading API tokens…" />
  if (data.length === 0) return <Empty title={`${user.username} has no API tokens.`} />
  const columns = tokenColumns(dataUpdatedAt, {
    send: (id) => read(api.DELETE('/api/admin/tokens/{id}', { params: { path: { id } } })),
    outdated: [userTokens(user.id).queryKey, ['admin', 'log']],
    consequence: `Programs of ${user.username} that use it, and clients that use its torrents, stop immediately. The user is notified.`,
  })
  return <Table caption="API tokens" columns={columns} rows={data} rowKey={({ id }) => id} />
}
