import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { EntryTable } from '../parts/entry-table.tsx'
import { userHistory } from './queries.ts'

export function HistoryTab({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(userHistory(id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={5} label="Loading the history…" />
  if (data.items.length === 0) return <Empty title="No changes by staff yet." />
  return (
    <>
      <EntryTable entries={data.items} withTarget={false} />
      {data.total > data.items.length && (
        <Link to="/admin/log" search={{ target: id }}>
          View all in the log
        </Link>
      )}
    </>
  )
}
