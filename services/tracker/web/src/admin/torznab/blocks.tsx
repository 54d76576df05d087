import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatDuration, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type TorznabBlock, type TorznabUser } from '../../api/client.ts'
import { blocks, users } from './queries.ts'
import { Unblock } from './user-actions.tsx'

/** Who is kept from the API: addresses for a time, users until the block is lifted. */
export function Blocks() {
  return (
    <>
      <section className="block-list" aria-labelledby="blocked-addresses">
        <h2 id="blocked-addresses">Addresses</h2>
        <p className="muted">
          Blocked by the limits: 5 minutes at first, then twice as long each time, up to 24 hours. Lifting a block
          forgets the steps before.
        </p>
        <Addresses />
      </section>
      <section className="block-list" aria-labelledby="blocked-users">
        <h2 id="blocked-users">Users</h2>
        <p className="muted">Blocked by an administrator until it is lifted.</p>
        <BlockedUsers />
      </section>
    </>
  )
}

const ADDRESS_COLUMNS: readonly Column<TorznabBlock>[] = [
  { key: 'address', head: 'Address', isMain: true, cell: ({ address }) => address },
  {
    key: 'left',
    head: 'Time left',
    align: 'end',
    cell: ({ secondsLeft, until }) => (
      <time dateTime={until} title={`Until ${formatExactTime(until)}`}>
        {formatDuration(secondsLeft)}
      </time>
    ),
  },
  { key: 'whole', head: 'Whole block', align: 'end', cell: ({ penaltySeconds }) => formatDuration(penaltySeconds) },
  { key: 'lift', head: 'Lift', isEvident: true, cell: ({ address }) => <Lift address={address} /> },
]

function Addresses() {
  const { data, error, refetch } = useQuery(blocks)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Blocks are loading." />
  if (data.length === 0) return <Empty title="No address is blocked." />
  return <Table caption="Blocked addresses" columns={ADDRESS_COLUMNS} rows={data} rowKey={({ address }) => address} />
}

function Lift({ address }: { address: string }) {
  const queries = useQueryClient()
  const lift = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/torznab/blocks/{address}', { params: { path: { address } } })),
    onSuccess: () => toast(`${address} may ask again.`),
    onError: toastProblem,
    // A block that ended meanwhile is not there either.
    onSettled: () => queries.invalidateQueries({ queryKey: blocks.queryKey }),
  })
  return (
    <Button className="small" isBusy={lift.isPending} onClick={() => lift.mutate()} aria-label={`Lift ${address}`}>
      Lift
    </Button>
  )
}

const USER_COLUMNS: readonly Column<TorznabUser>[] = [
  {
    key: 'user',
    head: 'User',
    isMain: true,
    cell: ({ user }) => (
      <Link to="/admin/torznab" search={{ tab: 'requests', user: user.username }} className="row-link">
        {user.username}
      </Link>
    ),
  },
  { key: 'violations', head: 'Violations', align: 'end', cell: ({ violations }) => formatCount(violations) },
  { key: 'left', head: 'Time left', align: 'end', cell: () => 'until lifted' },
  {
    key: 'unblock',
    head: 'Lift',
    isEvident: true,
    cell: ({ user }) => (
      <span className="row-actions">
        <Unblock user={user} />
      </span>
    ),
  },
]

function BlockedUsers() {
  const { data, error, refetch } = useQuery(users({ blocked: 'true' }))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Blocked users are loading." />
  if (data.items.length === 0) return <Empty title="No user is blocked." />
  return (
    <>
      <Table caption="Blocked users" columns={USER_COLUMNS} rows={data.items} rowKey={({ user }) => user.id} />
      {data.total > data.items.length && (
        <Link to="/admin/torznab" search={{ tab: 'users', blocked: 'true' }}>
          All blocked users
        </Link>
      )}
    </>
  )
}
