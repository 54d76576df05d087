import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Pages, totalText } from '@vault-and-tracker/web-kit/table'
import '../manage.css'
import { SearchField } from '@vault-and-tracker/web-kit/form'
import { ACTION_NAMES, ACTIONS } from '../parts/actions.ts'
import { EntryTable } from '../parts/entry-table.tsx'
import { logPage } from './queries.ts'
import type { LogSearch } from './search.ts'

const route = getRouteApi('/admin/log')

/** What administrators and moderators did, the newest first. */
export function LogPage() {
  const search = route.useSearch()
  const { data, error, refetch } = useQuery(logPage(search))
  usePageTitle('Log')
  return (
    <>
      <header className="manage-head">
        <h1>Log</h1>
        <p className="muted" role="status">
          {data && totalText({ ...data }, 'action')}
        </p>
      </header>
      <Filters search={search} />
      {search.target !== undefined && (
        <p>
          Only what was done to one thing.{' '}
          <Link to="/admin/log" search={{ ...search, target: undefined, page: undefined }}>
            To anything
          </Link>
        </p>
      )}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="The log is loading." />
      ) : data.items.length === 0 ? (
        <Nothing search={search} />
      ) : (
        <div>
          <EntryTable entries={data.items} withTarget />
          <Pages
            list={data}
            link={(page, text) => (
              <Link to="/admin/log" search={{ ...search, page }} className="button">
                {text}
              </Link>
            )}
          />
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
      <SearchField label="Name of who did it" value={search.actor} onChange={(text) => go({ actor: text }, true)} />
      <select
        className="input"
        aria-label="Action"
        value={search.action ?? ''}
        onChange={({ target }) => go({ action: ACTIONS.find((action) => action === target.value) })}
      >
        <option value="">All actions</option>
        {ACTIONS.map((action) => (
          <option key={action} value={action}>
            {ACTION_NAMES[action]}
          </option>
        ))}
      </select>
      <Day label="From" value={search.from} onChange={(from) => go({ from, to: later(from, search.to) })} />
      <Day label="To" value={search.to} onChange={(to) => go({ to, from: earlier(search.from, to) })} />
    </div>
  )
}

/** The other end of a range moves along where it would be on the wrong side. */
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
  if (Object.values(search).every((value) => value === undefined))
    return <Empty title="The staff has done nothing yet." />
  return (
    <Empty title="Nothing in the log is like this.">
      <Link to="/admin/log">The whole log</Link>
    </Empty>
  )
}
