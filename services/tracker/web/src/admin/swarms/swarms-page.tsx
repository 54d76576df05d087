import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatCount, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import type { SwarmTotals } from '../../api/client.ts'
import { Busiest } from './busiest.tsx'
import { History } from './history.tsx'
import { swarmTotals } from './queries.ts'

const route = getRouteApi('/admin/swarms')

export function SwarmsPage() {
  const search = route.useSearch()
  const { data, error, refetch } = useQuery(swarmTotals)
  return (
    <>
      <PageHead title="Swarms" />
      {data !== undefined ? (
        <Totals totals={data} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading counts…" />
      )}
      <History range={search.range} />
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
          note: `on ${formatNumberOf(swarms, 'torrent')}`,
        },
        { label: 'Seeders', value: formatCount(seeders), note: shareOf(seeders, peers) },
        { label: 'Leechers', value: formatCount(leechers), note: shareOf(leechers, peers) },
        { label: 'Announces per second', value: formatCount(announces), note: `${formatCount(refused)} refused` },
      ]}
    />
  )
}

function shareOf(part: number, whole: number): string {
  return whole === 0 ? 'no peers' : `${Math.round((100 * part) / whole)} %`
}
