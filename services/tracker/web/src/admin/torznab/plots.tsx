import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BarList, type ChartData, formatValue, type Series, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { type ReactNode, useMemo } from 'react'
import type { TorznabStatistics } from '../../api/client.ts'
import { statistics as statisticsQuery } from './queries.ts'
import { FUNCTIONS } from './search.ts'

type Items = TorznabStatistics['series']['items']
type Measure = 'requests' | 'errors' | 'averageMs'

/** More bars than this cannot be distinguished. */
const MAX_BARS = 200

/** Requests, response times and errors over time, then by function and by application. */
export function Plots({ statistics }: { statistics: TorznabStatistics }) {
  const before = useSeriesBefore(statistics)
  const { step } = statistics.series
  const data = useMemo(() => chartsOf(statistics, before), [statistics, before])
  return (
    <>
      <TimeChart title="Requests" axis={`requests per ${step}`} data={data.requests} />
      <div className="chart-pair">
        <TimeChart title="Response times" axis="milliseconds" data={data.times} />
        <TimeChart title="Errors" axis={`errors per ${step}`} data={data.errors} />
      </div>
      <div className="chart-pair">
        <BarList
          title="By function"
          heads={['Function', 'Requests', 'Errors', 'Average']}
          bars={statistics.functions.map((row) =>
            barOf(row, row.function, <FunctionLink name={row.function} />, row.averageMs),
          )}
        />
        <BarList
          title="By application"
          heads={['Application', 'Requests', 'Errors', 'Average']}
          bars={statistics.clients.map((row) => barOf(row, row.client, row.client, row.averageMs))}
        />
      </div>
    </>
  )
}

function barOf(
  { requests, errors }: { readonly requests: number; readonly errors: number },
  key: string,
  label: ReactNode,
  milliseconds: number | null,
) {
  const time = milliseconds === null ? '' : formatValue(milliseconds, 'ms')
  return { key, label, value: requests, part: errors, cells: [formatCount(requests), formatCount(errors), time] }
}

function FunctionLink({ name }: { name: string }) {
  const known = FUNCTIONS.find((each) => each === name)
  if (known === undefined) return name
  return (
    <Link to="/admin/torznab" search={{ tab: 'requests', function: known }}>
      {name}
    </Link>
  )
}

/** The same number of steps before the range, if any. Months differ in length, so they are not compared. */
function useSeriesBefore({ before, series }: TorznabStatistics): Items {
  const { data } = useQuery({
    ...statisticsQuery({ from: before?.from, to: before?.to }),
    enabled: before !== null && series.step !== 'month',
  })
  return before !== null && data?.series.step === series.step ? data.series.items : []
}

function chartsOf({ series: { items, step } }: TorznabStatistics, before: Items) {
  const shape = items.length > MAX_BARS ? 'area' : 'bars'
  const times = items.map(({ start }) => start)
  const line = (label: string, key: Measure, style: Pick<Series, 'tone' | 'shape'>): Series => ({
    label,
    ...style,
    values: items.map((item) => item[key]),
  })
  const past = (label: string, key: Measure): readonly Series[] =>
    before.length === 0
      ? []
      : [{ label, tone: 'text', shape: 'dashes', values: items.map((_, i) => before[i]?.[key] ?? null) }]
  const chart = (unit: ChartData['unit'], ...lines: readonly Series[]): ChartData => ({
    unit,
    span: step,
    times,
    series: lines,
  })
  return {
    requests: chart('count', line('Requests', 'requests', { tone: 'accent', shape }), ...past('Before', 'requests')),
    times: chart(
      'ms',
      line('Average', 'averageMs', { tone: 'info', shape: 'line' }),
      ...past('Average before', 'averageMs'),
    ),
    errors: chart('count', line('Errors', 'errors', { tone: 'bad', shape }), ...past('Before', 'errors')),
  }
}
