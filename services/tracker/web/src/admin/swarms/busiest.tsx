import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import type { BusyTorrent } from '../../api/client.ts'
import { Peers } from '../../release/peers.tsx'
import { BreakableName } from '../../release/release-tags.tsx'
import { busiestTorrents } from './queries.ts'
import type { BusySort, SwarmsSearch } from './search.ts'

const ORDERS = [
  ['peers', 'Most peers'],
  ['seeders', 'Most seeders'],
  ['leechers', 'Most leechers'],
] as const

/** The torrents with the most peers; each leads to its peers. */
export function Busiest({ search }: { search: SwarmsSearch }) {
  const sort = search.busiest ?? 'peers'
  const navigate = useNavigate()
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(busiestTorrents(sort))
  return (
    <>
      <div className="section-head">
        <h2>Busiest torrents</h2>
        <select
          className="input"
          aria-label="Order"
          value={sort}
          onChange={({ target }) => {
            const chosen = target.value as BusySort
            void navigate({
              to: '/admin/swarms',
              search: { ...search, busiest: chosen === 'peers' ? undefined : chosen },
              resetScroll: false,
            })
          }}
        >
          {ORDERS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={10} label="Torrents are loading." />
      ) : data.length === 0 ? (
        <Empty title="No torrent has peers now." />
      ) : (
        <Table
          caption="Busiest torrents"
          columns={columnsAt(dataUpdatedAt)}
          rows={data}
          rowKey={({ id }) => id}
          isStale={isPlaceholderData}
        />
      )}
    </>
  )
}

function columnsAt(now: number): readonly Column<BusyTorrent>[] {
  return [
    {
      key: 'name',
      head: 'Name',
      isMain: true,
      cell: ({ id, name }) => (
        <Link to="/admin/swarms/$id" params={{ id }} className="row-link">
          <BreakableName name={name} />
        </Link>
      ),
    },
    { key: 'size', head: 'Size', align: 'end', isEvident: true, cell: ({ size }) => formatBytes(size) },
    {
      key: 'peers',
      head: 'Peers',
      align: 'end',
      cell: ({ seeders, leechers }) => formatCount(seeders + leechers),
      isMinor: true,
    },
    {
      key: 'seeders',
      head: 'Seeders',
      align: 'end',
      isEvident: true,
      cell: ({ seeders }) => <Peers kind="seeders" count={seeders} />,
    },
    {
      key: 'leechers',
      head: 'Leechers',
      align: 'end',
      isEvident: true,
      cell: ({ leechers }) => <Peers kind="leechers" count={leechers} />,
    },
    {
      key: 'seen',
      head: 'Last announce',
      align: 'end',
      cell: ({ lastSeen }) => (lastSeen === null ? 'never' : <Ago time={lastSeen} now={now} />),
    },
  ]
}
