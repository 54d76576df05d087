import { useQuery } from '@tanstack/react-query'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import type { TorznabAddress } from '../../api/client.ts'
import { addresses } from './queries.ts'

const COLUMNS: readonly Column<TorznabAddress>[] = [
  { key: 'address', head: 'Address', isMain: true, cell: ({ address }) => address },
  { key: 'requests', head: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
  { key: 'wrong', head: 'Wrong keys', align: 'end', cell: ({ wrongKeys }) => formatCount(wrongKeys) },
  { key: 'over', head: 'Over limits', align: 'end', cell: ({ overLimits }) => formatCount(overLimits) },
  {
    key: 'hour',
    head: 'Hour from',
    align: 'end',
    isEvident: true,
    cell: ({ hour }) => <time dateTime={hour}>{formatExactTime(hour)}</time>,
  },
]

/** Requests that are counted by address instead of logged. */
export function Addresses() {
  const { data, error, refetch } = useQuery(addresses)
  return (
    <section className="block-list" aria-labelledby="unlogged-requests">
      <h2 id="unlogged-requests">Without a key, or refused</h2>
      <p className="muted">Counted by address and hour. Capabilities need no key, and most tools ask for them.</p>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Addresses are loading." />
      ) : data.items.length === 0 ? (
        <Empty title="No requests without a key and no refused ones." />
      ) : (
        <Table
          caption="Requests without a key, or refused, by address and hour"
          columns={COLUMNS}
          rows={data.items}
          rowKey={({ address, hour }) => hour + address}
        />
      )}
    </section>
  )
}
