import { useQuery } from '@tanstack/react-query'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ranges } from '@vault-and-tracker/web-kit/layout'
import { useMemo } from 'react'
import type { Activity } from '../api/types.ts'
import { activityOf, RANGES, type Range } from './queries.ts'

const LABELS = { '24h': '24 hours', '7d': '7 days' } as const

/** Requests over time, of one project or of all. The range is in the address. */
export function Requests({ projectId, range = '24h' }: { projectId?: string; range: Range | undefined }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(activityOf(range, projectId))
  return (
    <section className="stack" aria-label="Requests over time">
      <Ranges label="Range" tabs={RANGES.map((each) => [each, LABELS[each]] as const)} current={range} initial="24h" />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading requests…" />
      ) : (
        <div aria-busy={isPlaceholderData}>
          <Chart items={data} ofProject={projectId !== undefined} />
        </div>
      )}
    </section>
  )
}

function Chart({ items, ofProject }: { items: Activity['items']; ofProject: boolean }) {
  const data = useMemo(() => chartOf(items, ofProject), [items, ofProject])
  const known = items.findIndex(({ fetches }) => fetches !== null)
  return (
    <TimeChart
      title={ofProject ? 'Requests of this project' : 'Requests'}
      axis="requests per hour"
      data={data}
      note={known > 0 && <span className="muted">Older requests are not counted because there are too many.</span>}
    />
  )
}

/** A request that is refused before its project is known belongs to no project. */
function chartOf(items: Activity['items'], ofProject: boolean): ChartData {
  return {
    unit: 'count',
    span: 'hour',
    times: items.map(({ start }) => start),
    series: [
      { label: 'Fetches', tone: 'accent', shape: 'area', values: items.map(({ fetches }) => fetches) },
      { label: 'Writes', tone: 'info', shape: 'line', values: items.map(({ writes }) => writes) },
      {
        label: ofProject ? 'Refused by scope' : 'Refused',
        tone: 'bad',
        shape: 'line',
        values: items.map(({ refused }) => refused),
      },
    ],
  }
}
