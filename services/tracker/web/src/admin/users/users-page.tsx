import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes, formatDate, formatRatio } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { type Column, NoSuchPage, Pages, Table, totalText } from '@vault-and-tracker/web-kit/table'
import type { ManagedUser } from '../../api/client.ts'
import '../manage.css'
import { SearchField, Select } from '@vault-and-tracker/web-kit/form'
import { userList } from './queries.ts'
import { ROLE_CHOICES, STATE_CHOICES, type UsersSearch } from './search.ts'
import { UserTags } from './user-tags.tsx'

const route = getRouteApi('/admin/users')

export function UsersPage() {
  const search = route.useSearch()
  const { data, error, isPlaceholderData, refetch, dataUpdatedAt } = useQuery(userList(search))
  return (
    <>
      <PageHead title="Users" count={data ? totalText(data, 'user') : ''}>
        <Link to="/admin/users/addresses">Addresses</Link>
      </PageHead>
      <Filters search={search} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={20} label="Loading users…" />
      ) : data.items.length === 0 && data.page > 1 ? (
        <NoSuchPage list={data} />
      ) : data.items.length === 0 ? (
        <Empty title="No matching users.">
          <Link to="/admin/users">Clear filters</Link>
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
          <Pages list={data} />
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
        label="Username or email address"
        value={search.search}
        onChange={(text) => go({ search: text }, true)}
      />
      <Select
        label="Role"
        all="All roles"
        value={search.role}
        choices={ROLE_CHOICES}
        onChange={(role) => go({ role })}
      />
      <Select
        label="State"
        all="All states"
        value={search.state}
        choices={STATE_CHOICES}
        onChange={(state) => go({ state })}
      />
    </div>
  )
}

function columnsAt(now: number): readonly Column<ManagedUser>[] {
  return [
    {
      head: 'Name',
      isMain: true,
      cell: (user) => (
        <>
          <Link to="/admin/users/$id" params={{ id: user.id }} className="row-link" preload={false}>
            {user.username}
          </Link>{' '}
          <UserTags user={user} />
        </>
      ),
    },
    { head: 'Email', isEvident: true, cell: ({ email }) => <span className="muted">{email}</span> },
    { head: 'Uploaded', align: 'end', cell: ({ uploaded }) => formatBytes(uploaded) },
    { head: 'Downloaded', align: 'end', isMinor: true, cell: ({ downloaded }) => formatBytes(downloaded) },
    {
      head: 'Ratio',
      align: 'end',
      cell: ({ uploaded, downloaded }) => formatRatio(downloaded === 0 ? null : uploaded / downloaded),
    },
    { head: 'Last seen', align: 'end', cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
    { head: 'Joined', align: 'end', isMinor: true, cell: ({ created }) => formatDate(created) },
  ]
}
