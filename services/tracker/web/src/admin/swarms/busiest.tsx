import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Select } from '@vault-and-tracker/web-kit/form'
import { Ago, formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import type { BusyTorrent } from '../../api/client.ts'
import { Peers } from '../../release/peers.tsx'
import { BreakableName } from '../../release/release-tags.tsx'
import { busiestTorrents } from './queries.ts'
import type { SwarmsSearch } from './search.ts'

const ORDERS = [
  ['peers', 'Most peers'],
  ['seeders', 'Most seeders'],
  ['leechers', 'Most leechers'],
] as const

/** The torrents with the most peers, each linked to its peers. */
export function Busiest({ search }: { search: SwarmsSearch }) {
  const sort = search.busiest ?? 'peers'
  const navigate = useNavigate()
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(busiestTorrents(sort))
  return (
    <>
      <div className="section-head">
        <h2>Busiest torrents</h2>
        <Select
          label="Order"
          value={sort}
          choices={ORDERS}
          onChange={(chosen) =>
            void navigate({
              to: '/admin/swarms',
              search: { ...search, busiest: chosen === 'peers' ? undefined : chosen },
              resetScroll: false,
            })
          }
        />
      </div>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={10} label="Loading torrents…" />
      ) : data.length === 0 ? (
        <Empty title="No torrents have peers at the moment." />
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
      head: 'Name',
      isMain: true,
      cell: ({ id, name }) => (
        <Link to="/admin/swarms/$id" params={{ id }} className="row-link" preload={false}>
          <BreakableName name={name} />
        </Link>
      ),
    },
    { head: 'Size', align: 'end', isEvident: true, cell: ({ size }) => formatBytes(size) },
    { head: 'Peers', align: 'end', cell: ({ seeders, leechers }) => formatCount(seeders + leechers), isMinor: true },
    { head: 'Seeders', align: 'end', isEvident: true, cell: ({ seeders }) => <Peers kind="seeders" count={seeders} /> },
    {
      head: 'Leechers',
      align: 'end',
      isEvident: true,
      cell: ({ leechers }) => <Peers kind="leechers" count={leechers} />,
    },
    { head: 'Last announce', align: 'end', cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
  ]
}
