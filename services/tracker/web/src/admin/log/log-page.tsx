import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Pages, totalText } from '@vault-and-tracker/web-kit/table'
import '../manage.css'
import { DayRange, ExportButtons, SearchField, Select } from '@vault-and-tracker/web-kit/form'
import { ACTION_NAMES } from '../parts/actions.ts'
import { EntryTable } from '../parts/entry-table.tsx'
import { exportLog, logPage } from './queries.ts'
import type { LogSearch } from './search.ts'

const route = getRouteApi('/admin/log')

/** The actions of administrators and moderators, newest first. */
export function LogPage() {
  const search = route.useSearch()
  const { data, error, refetch } = useQuery(logPage(search))
  return (
    <>
      <PageHead title="Log" count={data ? totalText(data, 'action') : ''} />
      <Filters search={search} />
      {search.target !== undefined && (
        <p>
          Showing one target only.{' '}
          <Link to="/admin/log" search={{ ...search, target: undefined, page: undefined }}>
            Show all targets
          </Link>
        </p>
      )}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="Loading the log…" />
      ) : data.items.length === 0 ? (
        <Nothing search={search} />
      ) : (
        <div>
          <EntryTable entries={data.items} withTarget />
          <Pages list={data} />
        </div>
      )}
    </>
  )
}

function Filters({ search }: { search: LogSearch }) {
  const navigate = route.useNavigate()
  const go = (change: LogSearch, replace = false): void =>
    void navigate({ search: (now) => ({ ...now, ...change, page: undefined }), replace })
  return (
    <div className="manage-filters">
      <SearchField label="Username" value={search.actor} onChange={(text) => go({ actor: text }, true)} />
      <Select
        label="Action"
        all="All actions"
        value={search.action}
        choices={ACTION_NAMES}
        onChange={(action) => go({ action })}
      />
      <DayRange from={search.from} to={search.to} onChange={go} />
      <ExportButtons name="admin-log" load={(format) => exportLog(search, format)} />
    </div>
  )
}

function Nothing({ search }: { search: LogSearch }) {
  if (Object.values(search).every((value) => value === undefined)) return <Empty title="No staff actions yet." />
  return (
    <Empty title="No matching actions.">
      <Link to="/admin/log">Clear filters</Link>
    </Empty>
  )
}
