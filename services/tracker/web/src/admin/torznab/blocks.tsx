import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatDuration, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type TorznabBlock } from '../../api/client.ts'
import { blocks, users } from './queries.ts'
import { UserTable } from './users.tsx'

const BLOCKED = { blocked: 'true' } as const

/** Addresses that are blocked for a time, and users who are blocked until an administrator unblocks them. */
export function Blocks() {
  const { data: blocked } = useQuery(users(BLOCKED))
  return (
    <>
      <section className="block-list" aria-labelledby="blocked-addresses">
        <h2 id="blocked-addresses">Addresses</h2>
        <p className="muted">
          Blocked by the limits: 5 minutes at first, then twice as long each time, up to 24 hours. Unblocking an address
          also resets the duration.
        </p>
        <Addresses />
      </section>
      <section className="block-list" aria-labelledby="blocked-users">
        <h2 id="blocked-users">Users</h2>
        <p className="muted">Blocked by an administrator, until unblocked.</p>
        <UserTable search={BLOCKED}>
          <Empty title="No blocked users." />
        </UserTable>
        {blocked && blocked.total > blocked.items.length && (
          <Link to="/admin/torznab" search={{ tab: 'users', ...BLOCKED }}>
            Show all blocked users
          </Link>
        )}
      </section>
    </>
  )
}

const COLUMNS: readonly Column<TorznabBlock>[] = [
  { head: 'Address', isMain: true, cell: ({ address }) => address },
  {
    head: 'Time left',
    align: 'end',
    cell: ({ secondsLeft, until }) => (
      <time dateTime={until} title={`Until ${formatExactTime(until)}`}>
        {formatDuration(secondsLeft)}
      </time>
    ),
  },
  { head: 'Duration', align: 'end', cell: ({ penaltySeconds }) => formatDuration(penaltySeconds) },
  { head: 'Actions', isEvident: true, cell: ({ address }) => <Unblock address={address} /> },
]

function Addresses() {
  const { data, error, refetch } = useQuery(blocks)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading blocks…" />
  if (data.length === 0) return <Empty title="No blocked addresses." />
  return <Table caption="Blocked addresses" columns={COLUMNS} rows={data} rowKey={({ address }) => address} />
}

function Unblock({ address }: { address: string }) {
  const queries = useQueryClient()
  const lift = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/torznab/blocks/{address}', { params: { path: { address } } })),
    onSuccess: () => toast(`${address} unblocked.`),
    onError: toastProblem,
    // The block may have ended in the meantime.
    onSettled: () => queries.invalidateQueries({ queryKey: blocks.queryKey }),
  })
  return (
    <Button className="small" isBusy={lift.isPending} onClick={() => lift.mutate()} aria-label={`Unblock ${address}`}>
      Unblock
    </Button>
  )
}
