import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { SearchField } from '@vault-and-tracker/web-kit/form'
import { Ago, formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import { useMemo } from 'react'
import type { TorznabUser } from '../../api/client.ts'
import { users } from './queries.ts'
import type { TorznabSearch } from './search.ts'
import { UserActions } from './user-actions.tsx'

/** Who uses the API how much, and what can be done about it. */
export function Users({ search: { search, blocked, page } }: { search: TorznabSearch }) {
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(users({ search, blocked, page }))
  const columns = useMemo(() => columnsAt(dataUpdatedAt), [dataUpdatedAt])
  const isNarrowed = search !== undefined || blocked !== undefined
  return (
    <>
      <div className="manage-head">
        <Filters search={search} blocked={blocked} />
        <p className="muted" role="status">
          {data && totalText(data, 'user')}
        </p>
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={10} label="Users are loading." />
      ) : data.items.length === 0 ? (
        <Empty title={isNarrowed ? 'No user of the API is like this.' : 'Nobody has used the API yet.'}>
          {isNarrowed ? (
            <Link to="/admin/torznab" search={{ tab: 'users' }}>
              All users of the API
            </Link>
          ) : (
            <Link to="/admin/torznab" search={{ tab: 'check' }}>
              What to enter in Sonarr, Radarr and the others
            </Link>
          )}
        </Empty>
      ) : (
        <>
          <Table
            caption="Users of the Torznab API"
            columns={columns}
            rows={data.items}
            rowKey={({ user }) => user.id}
            isStale={isPlaceholderData}
          />
          <Pages list={data} />
        </>
      )}
    </>
  )
}

function columnsAt(now: number): readonly Column<TorznabUser>[] {
  const count = (key: 'requests' | 'downloads' | 'errors' | 'violations', head: string): Column<TorznabUser> => ({
    key,
    head,
    align: 'end',
    cell: (row) => formatCount(row[key]),
  })
  return [
    {
      key: 'user',
      head: 'User',
      isMain: true,
      cell: ({ user, blocked }) => (
        <>
          <Link to="/admin/torznab" search={{ tab: 'requests', user: user.username }} className="row-link">
            {user.username}
          </Link>{' '}
          {blocked && (
            <span className="tag" data-tone="bad">
              Blocked
            </span>
          )}
        </>
      ),
    },
    count('requests', 'Requests'),
    count('downloads', 'Downloads'),
    count('errors', 'Errors'),
    count('violations', 'Violations'),
    {
      key: 'last',
      head: 'Last request',
      align: 'end',
      cell: ({ lastRequest }) => (lastRequest === null ? 'none' : <Ago time={lastRequest} now={now} />),
    },
    { key: 'actions', head: 'Actions', isEvident: true, cell: (usage) => <UserActions usage={usage} /> },
  ]
}

function Filters({ search, blocked }: Pick<TorznabSearch, 'search' | 'blocked'>) {
  const navigate = useNavigate()
  const go = (part: Pick<TorznabSearch, 'search' | 'blocked'>, replace = false): void => {
    void navigate({ to: '/admin/torznab', search: { tab: 'users', search, blocked, ...part }, replace })
  }
  return (
    <div className="manage-filters">
      <SearchField label="Part of a name" value={search} onChange={(text) => go({ search: text }, true)} />
      <select
        className="input"
        aria-label="Access"
        value={blocked ?? ''}
        onChange={({ target }) => go({ blocked: target.value === 'true' ? 'true' : undefined })}
      >
        <option value="">All users</option>
        <option value="true">Blocked users</option>
      </select>
    </div>
  )
}
