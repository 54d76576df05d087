import { useQuery } from '@tanstack/react-query'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ranges, type TabAttributes } from '@vault-and-tracker/web-kit/layout'
import { type ReactNode, useMemo } from 'react'
import type { TransferDay } from '../api/client.ts'
import { DAY_RANGES, type DayRange, transferHistory } from './queries.ts'

/** More bars than this cannot be told apart. */
const MAX_BARS = 100

/**
 * What a user transferred day by day, and how the ratio went.
 *
 * @param props `link` makes a link to the same page with another range
 */
export function TransferCharts(props: {
  id: string
  days: DayRange | undefined
  link: (days: DayRange | undefined, attributes: TabAttributes, text: ReactNode) => ReactNode
}) {
  const days = props.days ?? DAY_RANGES[0]
  const { data, error, refetch, isPlaceholderData } = useQuery(transferHistory(props.id, days))
  return (
    <>
      <Ranges
        label="Range"
        tabs={DAY_RANGES.map((each) => [each, each === 365 ? 'A year' : `${each} days`] as const)}
        current={days}
        link={(each, attributes, text) => props.link(each === DAY_RANGES[0] ? undefined : each, attributes, text)}
      />
      {data !== undefined ? (
        <Charts items={data} isStale={isPlaceholderData} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={7} label="Transfers are loading." />
      )}
    </>
  )
}

function Charts({ items, isStale }: { items: readonly TransferDay[]; isStale: boolean }) {
  const { transfers, ratio } = useMemo(() => chartsOf(items), [items])
  return (
    <div className="chart-pair" aria-busy={isStale}>
      <TimeChart title="Transfers" axis="bytes a day" data={transfers} />
      <TimeChart title="Ratio" axis="at the end of the day" data={ratio} />
    </div>
  )
}

function chartsOf(items: readonly TransferDay[]): { transfers: ChartData; ratio: ChartData } {
  const times = items.map(({ day }) => day)
  const shape = items.length > MAX_BARS ? 'area' : 'line'
  return {
    transfers: {
      unit: 'bytes',
      span: 'day',
      times,
      series: [
        { label: 'Uploaded', tone: 'good', shape, values: items.map(({ uploadedActual }) => uploadedActual) },
        { label: 'Downloaded', tone: 'info', shape, values: items.map(({ downloadedActual }) => downloadedActual) },
      ],
    },
    ratio: {
      unit: 'number',
      span: 'day',
      times,
      series: [{ label: 'Ratio', tone: 'accent', shape: 'line', values: items.map(({ ratio }) => ratio) }],
    },
  }
}
