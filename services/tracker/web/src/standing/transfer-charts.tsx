import { useQuery } from '@tanstack/react-query'
import { type ChartData, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ranges } from '@vault-and-tracker/web-kit/layout'
import { useMemo } from 'react'
import type { TransferDay } from '../api/client.ts'
import { DAY_RANGES, type DayRange, transferHistory } from './queries.ts'

/** More points than this are drawn as an area. */
const MAX_POINTS = 100

/** Transfers and ratio per day. */
export function TransferCharts({ id, days = DAY_RANGES[0] }: { id: string; days: DayRange | undefined }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(transferHistory(id, days))
  return (
    <>
      <Ranges
        label="Range"
        name="days"
        tabs={DAY_RANGES.map((each) => [each, each === 365 ? '1 year' : `${each} days`] as const)}
        current={days}
        initial={DAY_RANGES[0]}
      />
      {data !== undefined ? (
        <Charts items={data} isStale={isPlaceholderData} />
      ) : (
        <Pending error={error} onRetry={() => void refetch()} rows={7} label="Loading charts…" />
      )}
    </>
  )
}

function Charts({ items, isStale }: { items: readonly TransferDay[]; isStale: boolean }) {
  const { transfers, ratio } = useMemo(() => chartsOf(items), [items])
  return (
    <div className="chart-pair" aria-busy={isStale}>
      <TimeChart title="Transfers" axis="bytes per day" data={transfers} />
      {/* Who has downloaded nothing has no ratio. */}
      {items.some((day) => day.ratio !== null) && (
        <TimeChart title="Ratio" axis="at the end of each day" data={ratio} />
      )}
    </div>
  )
}

function chartsOf(items: readonly TransferDay[]): { transfers: ChartData; ratio: ChartData } {
  const times = items.map(({ day }) => day)
  const shape = items.length > MAX_POINTS ? 'area' : 'line'
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
