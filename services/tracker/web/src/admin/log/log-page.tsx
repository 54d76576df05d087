import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Pages, totalText } from '@vault-and-tracker/web-kit/table'
import '../manage.css'
import { SearchField, Select } from '@vault-and-tracker/web-kit/form'
import { ACTION_NAMES } from '../parts/actions.ts'
import { EntryTable } from '../parts/entry-table.tsx'
import { logPage } from './queries.ts'
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
    void navigate({ search: { ...search, ...change, page: undefined }, replace })
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
      <Day label="From" value={search.from} onChange={(from) => go({ from, to: later(from, search.to) })} />
      <Day label="To" value={search.to} onChange={(to) => go({ to, from: earlier(search.from, to) })} />
    </div>
  )
}

/** If one end of the range passes the other, the other moves along. */
function later(from: string | undefined, to: string | undefined): string | undefined {
  return from !== undefined && to !== undefined && to < from ? from : to
}

function earlier(from: string | undefined, to: string | undefined): string | undefined {
  return from !== undefined && to !== undefined && to < from ? to : from
}

function Day(props: { label: string; value: string | undefined; onChange: (day: string | undefined) => void }) {
  const { label, value, onChange } = props
  return (
    <label className="day">
      {label}
      <input
        type="date"
        className="input"
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value || undefined)}
      />
    </label>
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
