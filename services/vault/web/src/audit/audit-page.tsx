import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { DayRange, ExportButtons, SearchField, Select } from '@vault-and-tracker/web-kit/form'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Table } from '@vault-and-tracker/web-kit/table'
import { allProjects } from '../api/queries.ts'
import { useNamed } from '../frame/actor.tsx'
import { columnsFor } from './columns.tsx'
import { auditPage, exportAudit, PAGE_SIZE } from './queries.ts'
import { ACTION_CHOICES, type AuditSearch } from './search.ts'
import { Verified } from './verified.tsx'

const route = getRouteApi('/audit')

/** The entries of the audit log, newest first. */
export function AuditPage() {
  const search = route.useSearch()
  const { data, error, refetch, isPlaceholderData } = useQuery(auditPage(search))
  const named = useNamed(data)
  const last = data?.at(-1)
  const hasMore = data?.length === PAGE_SIZE
  return (
    <>
      <PageHead title="Audit log" />
      <Verified />
      <Filters search={search} />
      {search.actor !== undefined && (
        <p>
          Showing one requester only.{' '}
          <Link to="/audit" search={{ ...search, actor: undefined, before: undefined }}>
            Show all requesters
          </Link>
        </p>
      )}
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="Loading the audit log…" />
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
  // A deleted project still has entries.
  const names = [
    ...new Set([...(projects?.map(({ name }) => name) ?? []), ...(search.project ? [search.project] : [])]),
  ]
  const go = (change: AuditSearch, replace = false): void =>
    void navigate({ search: (now) => ({ ...now, ...change, before: undefined }), replace })
  return (
    <div className="manage-filters">
      <Select
        label="Project"
        all="All projects"
        value={search.project}
        choices={names.map((name) => [name, name] as const)}
        onChange={(project) => go({ project })}
      />
      <Select
        label="Action"
        all="All actions"
        value={search.action}
        choices={ACTION_CHOICES}
        onChange={(action) => go({ action })}
      />
      <SearchField label="Environment" value={search.env} onChange={(env) => go({ env }, true)} />
      <SearchField label="Secret" value={search.key} onChange={(key) => go({ key }, true)} />
      <SearchField label="Key name" value={search.keyName} onChange={(keyName) => go({ keyName }, true)} />
      <DayRange from={search.from} to={search.to} onChange={go} />
      <ExportButtons name="audit" load={(format) => exportAudit(search, format)} />
    </div>
  )
}

function Nothing({ search }: { search: AuditSearch }) {
  const isAll = Object.values(search).every((value) => value === undefined)
  return (
    <Empty title={isAll ? 'Nothing has been recorded yet.' : 'No matching entries.'}>
      {!isAll && <Link to="/audit">Clear filters</Link>}
    </Empty>
  )
}
