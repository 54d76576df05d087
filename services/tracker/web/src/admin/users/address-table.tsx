import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import type { UserAddress } from '../../api/client.ts'
import { userAddresses } from './queries.ts'

const KIND_NAMES = { web: 'Web', api: 'API or feed', announce: 'Announce' } as const

/** Where a user was seen. */
export function AddressesTab({ user }: { user: { readonly id: string; readonly username: string } }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(userAddresses({ user: user.id }))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading addresses…" />
  if (data.items.length === 0) return <Empty title={`No recent requests from ${user.username}.`} />
  return <AddressTable rows={data.items} now={dataUpdatedAt} withUser={false} />
}

/** Where users were seen. */
export function AddressTable(props: { rows: readonly UserAddress[]; now: number; withUser: boolean }) {
  const { rows, now, withUser } = props
  return (
    <Table
      caption="Addresses"
      columns={columnsAt(now).filter(({ head }) => withUser || head !== 'User')}
      rows={rows}
      rowKey={({ user, address, kind }) => `${user.id} ${address} ${kind}`}
    />
  )
}

function columnsAt(now: number): readonly Column<UserAddress>[] {
  return [
    {
      head: 'Address',
      isMain: true,
      cell: ({ address }) => (
        <Link to="/admin/users/addresses" search={{ address }} preload={false}>
          {address}
        </Link>
      ),
    },
    {
      head: 'User',
      isEvident: true,
      cell: ({ user }) => (
        <Link to="/admin/users/$id" params={{ id: user.id }} search={{ tab: 'addresses' }} preload={false}>
          {user.username}
        </Link>
      ),
    },
    {
      head: 'Kind',
      isEvident: true,
      cell: ({ kind, user, address }) =>
        kind === 'api' ? (
          <Link to="/admin/torznab" search={{ tab: 'requests', user: user.username, address }} preload={false}>
            {KIND_NAMES[kind]}
          </Link>
        ) : (
          KIND_NAMES[kind]
        ),
    },
    {
      head: 'Users',
      align: 'end',
      cell: ({ users }) =>
        users === 1 ? (
          '1'
        ) : (
          <span className="tag" data-tone="warn">
            {formatCount(users)}
            {users === MAX_COUNTED && '+'}
          </span>
        ),
    },
    { head: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
    { head: 'First seen', align: 'end', cell: ({ first }) => <Ago time={first} now={now} /> },
    { head: 'Last seen', align: 'end', cell: ({ last }) => <Ago time={last} now={now} /> },
  ]
}

/** The tracker counts no further. */
const MAX_COUNTED = 100
