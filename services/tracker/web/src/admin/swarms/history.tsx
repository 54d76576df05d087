import { useQuery } from '@tanstack/react-query'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ranges } from '@vault-and-tracker/web-kit/layout'
import { useMemo } from 'react'
import type { SwarmHistory } from '../../api/client.ts'
import { swarmHistory } from './queries.ts'
import { RANGES, type Range } from './search.ts'

const LABELS = { '3h': '3 hours', '24h': '24 hours', '7d': '7 days', '30d': '30 days', '1y': '1 year' } as const

/** Peers and announces over time. The range is in the address. */
export function History({ range = '24h' }: { range: Range | undefined }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(swarmHistory(range))
  return (
    <>
      <Ranges label="Range" tabs={RANGES.map((each) => [each, LABELS[each]] as const)} current={range} initial="24h" />
      {data !== undefined ? (
        <Charts history={data} isStale={isPlaceholderData} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={7} label="Loading charts…" />
      )}
    </>
  )
}

function Charts({ history, isStale }: { history: SwarmHistory; isStale: boolean }) {
  const { peers, announces } = useMemo(() => chartsOf(history), [history])
  if (history.items.every(({ seeders }) => seeders === null))
    return (
      <Empty title="No data for this range.">
        <p>While it runs, the tracker takes a sample every minute.</p>
      </Empty>
    )
  return (
    <div className="chart-pair" aria-busy={isStale}>
      <TimeChart title="Peers" axis="seeders and leechers" data={peers} />
      <TimeChart title="Announces" axis="announces per second" data={announces} />
    </div>
  )
}

function chartsOf({ items, stepSeconds }: SwarmHistory): { peers: ChartData; announces: ChartData } {
  const span = stepSeconds === 86_400 ? 'day' : stepSeconds === 3_600 ? 'hour' : 'moment'
  const times = items.map(({ start }) => start)
  return {
    peers: {
      unit: 'count',
      span,
      times,
      series: [
        { label: 'Seeders', tone: 'good', shape: 'line', values: items.map(({ seeders }) => seeders) },
        { label: 'Leechers', tone: 'info', shape: 'line', values: items.map(({ leechers }) => leechers) },
      ],
    },
    announces: {
      unit: 'number',
      span,
      times,
      series: [
        { label: 'Accepted', tone: 'accent', shape: 'area', values: items.map((item) => item.announces) },
        { label: 'Refused', tone: 'bad', shape: 'line', values: items.map(({ refused }) => refused) },
      ],
    },
  }
}
