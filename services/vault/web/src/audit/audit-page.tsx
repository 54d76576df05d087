import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Table } from '@vault-and-tracker/web-kit/table'
import { administrators, allProjects } from '../api/queries.ts'
import { useAdministrator } from '../api/use-administrator.ts'
import { columnsFor } from './columns.tsx'
import { auditPage, PAGE_SIZE } from './queries.ts'
import { ACTION_NAMES, ACTIONS, type AuditSearch } from './search.ts'
import { Verified } from './verified.tsx'

const route = getRouteApi('/audit')

/** What was done, by whom and from where; the newest first. */
export function AuditPage() {
  const search = route.useSearch()
  const { seesAdministrators } = useAdministrator()
  const { data, error, refetch, isPlaceholderData } = useQuery(auditPage(search))
  // Reading them is noted in the log, so they are asked for where one of them acted.
  const isNamed = seesAdministrators && data?.some(({ actor }) => actor?.startsWith('administrator:')) === true
  const { data: named } = useQuery({ ...administrators, enabled: isNamed })
  usePageTitle('Audit log')
  const last = data?.at(-1)
  const hasMore = data?.length === PAGE_SIZE
  return (
    <>
      <header className="manage-head">
        <h1>Audit log</h1>
      </header>
      <Verified />
      <Filters search={search} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="The log is loading." />
      ) : data.length === 0 ? (
        <Nothing search={search} />
      ) : (
        <div className="entries">
          <Table
            caption="Audit log"
            columns={columnsFor(search, named)}
            rows={data}
            rowKey={({ id }) => id}
            isStale={isPlaceholderData}
          />
          {(search.before !== undefined || hasMore) && (
            <nav className="pages" aria-label="Pages">
              {search.before !== undefined && (
                <Link to="/audit" search={{ ...search, before: undefined }} className="button">
                  Newest
                </Link>
              )}
              {hasMore && last !== undefined && (
                <Link to="/audit" search={{ ...search, before: last.id }} className="button">
                  Older
                </Link>
              )}
            </nav>
          )}
        </div>
      )}
    </>
  )
}

function Filters({ search }: { search: AuditSearch }) {
  const navigate = route.useNavigate()
  const { data: projects } = useQuery(allProjects)
  // A project that was deleted has its entries still.
  const names = [
    ...new Set([...(projects?.map(({ name }) => name) ?? []), ...(search.project ? [search.project] : [])]),
  ]
  const go = (change: AuditSearch): void => void navigate({ search: { ...search, ...change, before: undefined } })
  return (
    <div className="manage-filters">
      <select
        className="input"
        aria-label="Project"
        value={search.project ?? ''}
        onChange={({ target }) => go({ project: target.value || undefined })}
      >
        <option value="">All projects</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Action"
        value={search.action ?? ''}
        onChange={({ target }) => go({ action: ACTIONS.find((action) => action === target.value) })}
      >
        <option value="">Fetches and rotations</option>
        {ACTIONS.map((action) => (
          <option key={action} value={action}>
            {ACTION_NAMES[action]}
          </option>
        ))}
      </select>
    </div>
  )
}

function Nothing({ search }: { search: AuditSearch }) {
  const isAll = search.project === undefined && search.action === undefined && search.before === undefined
  return (
    <Empty title={isAll ? 'Nothing was fetched yet.' : 'No entry is like this.'}>
      {!isAll && <Link to="/audit">All fetches and rotations</Link>}
    </Empty>
  )
}
