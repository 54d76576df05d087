import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import type { SwarmTotals } from '../../api/client.ts'
import { Busiest } from './busiest.tsx'
import { History } from './history.tsx'
import { swarmTotals } from './queries.ts'

const route = getRouteApi('/admin/swarms')

/** All swarms: now, over time, and where most peers are. */
export function SwarmsPage() {
  const search = route.useSearch()
  const { data, error, refetch } = useQuery(swarmTotals)
  usePageTitle('Swarms')
  return (
    <>
      <h1>Swarms</h1>
      {data !== undefined ? (
        <Totals totals={data} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Counts are loading." />
      )}
      <History search={search} />
      <Busiest search={search} />
    </>
  )
}

function Totals({ totals }: { totals: SwarmTotals }) {
  const { swarms, seeders, leechers, announces, refused } = totals
  const peers = seeders + leechers
  return (
    <Numbers
      figures={[
        {
          label: 'Peers',
          value: formatCount(peers),
          note: `on ${formatCount(swarms)} ${swarms === 1 ? 'torrent' : 'torrents'}`,
        },
        { label: 'Seeders', value: formatCount(seeders), note: shareOf(seeders, peers) },
        { label: 'Leechers', value: formatCount(leechers), note: shareOf(leechers, peers) },
        { label: 'Announces a second', value: formatCount(announces), note: `${formatCount(refused)} refused` },
      ]}
    />
  )
}

function shareOf(part: number, whole: number): string {
  return whole === 0 ? 'nobody announces' : `${Math.round((100 * part) / whole)} %`
}
