import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes, formatDate, formatRatio } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { type Column, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import type { ManagedUser } from '../../api/client.ts'
import '../manage.css'
import { SearchField } from '@vault-and-tracker/web-kit/form'
import { userList } from './queries.ts'
import { ROLE_NAMES, ROLES, STATE_NAMES, STATES, type UsersSearch } from './search.ts'
import { UserTags } from './user-tags.tsx'

const route = getRouteApi('/admin/users')

/** All users: search, filters, a page of them. */
export function UsersPage() {
  const search = route.useSearch()
  const { data, error, isPlaceholderData, refetch, dataUpdatedAt } = useQuery(userList(search))
  usePageTitle('Users')
  return (
    <>
      <header className="manage-head">
        <h1>Users</h1>
        <p className="muted" role="status">
          {data && totalText(data, 'user')}
        </p>
      </header>
      <Filters search={search} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="The users are loading." />
      ) : data.items.length === 0 ? (
        <Empty title={search.page === undefined ? 'No user is like this.' : `There is no page ${search.page}.`}>
          <Link to="/admin/users">All users</Link>
        </Empty>
      ) : (
        <div className="user-list">
          <Table
            caption="Users"
            columns={columnsAt(dataUpdatedAt)}
            rows={data.items}
            rowKey={({ id }) => id}
            isStale={isPlaceholderData}
          />
          <Pages
            list={data}
            link={(page, text) => (
              <Link to="/admin/users" search={{ ...search, page }} className="button">
                {text}
              </Link>
            )}
          />
        </div>
      )}
    </>
  )
}

function Filters({ search }: { search: UsersSearch }) {
  const navigate = route.useNavigate()
  const go = (change: UsersSearch, replace = false): void =>
    void navigate({ search: { ...search, ...change, page: undefined }, replace })
  return (
    <div className="manage-filters">
      <SearchField
        label="Part of a name or address"
        value={search.search}
        onChange={(text) => go({ search: text }, true)}
      />
      <select
        className="input"
        aria-label="Role"
        value={search.role ?? ''}
        onChange={({ target }) => go({ role: ROLES.find((role) => role === target.value) })}
      >
        <option value="">All roles</option>
        {ROLES.map((role) => (
          <option key={role} value={role}>
            {ROLE_NAMES[role]}s
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="State"
        value={search.state ?? ''}
        onChange={({ target }) => go({ state: STATES.find((state) => state === target.value) })}
      >
        <option value="">All states</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {STATE_NAMES[state]}
          </option>
        ))}
      </select>
    </div>
  )
}

function columnsAt(now: number): readonly Column<ManagedUser>[] {
  return [
    {
      key: 'name',
      head: 'Name',
      isMain: true,
      cell: (user) => (
        <>
          <Link to="/admin/users/$id" params={{ id: user.id }} className="row-link">
            {user.username}
          </Link>{' '}
          <UserTags user={user} />
        </>
      ),
    },
    { key: 'email', head: 'Email', isEvident: true, cell: ({ email }) => <span className="muted">{email}</span> },
    { key: 'uploaded', head: 'Uploaded', align: 'end', cell: ({ uploaded }) => formatBytes(uploaded) },
    {
      key: 'downloaded',
      head: 'Downloaded',
      align: 'end',
      isMinor: true,
      cell: ({ downloaded }) => formatBytes(downloaded),
    },
    {
      key: 'ratio',
      head: 'Ratio',
      align: 'end',
      cell: ({ uploaded, downloaded }) => formatRatio(downloaded === 0 ? null : uploaded / downloaded),
    },
    {
      key: 'seen',
      head: 'Seen',
      align: 'end',
      cell: ({ lastSeen }) => (lastSeen === null ? 'never' : <Ago time={lastSeen} now={now} />),
    },
    { key: 'created', head: 'Joined', align: 'end', isMinor: true, cell: ({ created }) => formatDate(created) },
  ]
}
