import { useQuery } from '@tanstack/react-query'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ranges, type TabAttributes } from '@vault-and-tracker/web-kit/layout'
import { type ReactNode, useMemo } from 'react'
import type { Activity } from '../api/types.ts'
import { activityOf, RANGES, type Range } from './queries.ts'

const LABELS = { '24h': '24 hours', '7d': '7 days' } as const

/** Requests over time, of one project or of all; the range is in the address. */
export function Requests(props: {
  projectId?: string
  range: Range
  /** Makes a link to another range; the first has no parameter. */
  link: (range: Range | undefined, attributes: TabAttributes, text: ReactNode) => ReactNode
}) {
  const { projectId, range, link } = props
  const { data, error, refetch, isPlaceholderData } = useQuery(activityOf(range, projectId))
  return (
    <section className="stack" aria-label="Requests over time">
      <Ranges
        label="Range"
        tabs={RANGES.map((each) => [each, LABELS[each]] as const)}
        current={range}
        link={(each, attributes, text) => link(each === '24h' ? undefined : each, attributes, text)}
      />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Requests are loading." />
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
      axis="requests an hour"
      data={data}
      note={known > 0 && <span className="muted">Older requests are too many to be counted here.</span>}
    />
  )
}

/** What a signature or token does not tell the project of is refused to nobody in particular. */
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
