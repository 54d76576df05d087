import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { EntryTable } from '../parts/entry-table.tsx'
import { userHistory } from './queries.ts'

/** What the staff did with a user. */
export function HistoryTab({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(userHistory(id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={5} label="The history is loading." />
  if (data.items.length === 0) return <Empty title="The staff has changed nothing of this user." />
  return (
    <>
      <EntryTable entries={data.items} withTarget={false} />
      {data.total > data.items.length && (
        <Link to="/admin/log" search={{ target: id }}>
          All of it in the log
        </Link>
      )}
    </>
  )
}
