import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import type { Torrent, TorrentHistory } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { Peers } from '../release/peers.tsx'
import { torrentHistory } from './torrent-queries.ts'

/** The peers and rates of a torrent. */
export function Swarm({ torrent }: { torrent: Torrent }) {
  const { id, seeders, leechers, completed, downloadPercent, uploadPercent } = torrent
  const { data: user } = useQuery(ownUser)
  const { data: history } = useQuery(torrentHistory(id))
  return (
    <>
      <Details
        facts={[
          ['Seeders', <Peers kind="seeders" count={seeders} />],
          ['Leechers', <Peers kind="leechers" count={leechers} />],
          ['Snatches', formatCount(completed)],
          ['Download rate', downloadPercent === 0 ? '0 % (freeleech)' : `${downloadPercent} %`],
          ['Upload rate', `${uploadPercent} %`],
        ]}
      />
      {seeders === 0 && <p className="notice">This torrent has no seeders. A download starts when a seeder returns.</p>}
      {history !== undefined && history.items.length > 1 && (
        <TimeChart title="Last 30 days" axis="seeders and leechers" data={chartOf(history)} />
      )}
      {user !== undefined && user.role !== 'member' && (
        <p>
          <Link to="/admin/swarms/$id" params={{ id }}>
            View peers
          </Link>
        </p>
      )}
    </>
  )
}

function chartOf({ items }: TorrentHistory): ChartData {
  return {
    unit: 'count',
    span: 'moment',
    times: items.map(({ start }) => start),
    series: [
      { label: 'Seeders', tone: 'good', shape: 'line', values: items.map(({ seeders }) => seeders) },
      { label: 'Leechers', tone: 'info', shape: 'line', values: items.map(({ leechers }) => leechers) },
    ],
  }
}
