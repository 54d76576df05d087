import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BarList, type ChartData, formatValue, type Series, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { useMemo } from 'react'
import type { TorznabStatistics } from '../../api/client.ts'
import { statistics as statisticsQuery } from './queries.ts'
import { FUNCTIONS } from './search.ts'

/** More bars than this cannot be told apart. */
const MAX_BARS = 200

/** When requests came, how long answers took, what failed; then by function and by application. */
export function Plots({ statistics }: { statistics: TorznabStatistics }) {
  const before = useSeriesBefore(statistics)
  const { step } = statistics.series
  const data = useMemo(() => chartsOf(statistics, before), [statistics, before])
  const each = step === 'hour' ? 'an hour' : step === 'day' ? 'a day' : 'a month'
  return (
    <>
      <TimeChart title="Requests" axis={`requests ${each}`} data={data.requests} />
      <div className="chart-pair">
        <TimeChart title="Response times" axis="milliseconds" data={data.times} />
        <TimeChart title="Errors" axis={`errors ${each}`} data={data.errors} />
      </div>
      <div className="chart-pair">
        <BarList
          title="By function"
          heads={['Function', 'Requests', 'Errors', '95 % within']}
          bars={statistics.functions.map(({ function: name, requests, errors, p95Ms }) => ({
            key: name,
            label: <FunctionLink name={name} />,
            value: requests,
            part: errors,
            cells: [formatCount(requests), formatCount(errors), p95Ms === null ? '' : formatValue(p95Ms, 'ms')],
          }))}
        />
        <BarList
          title="By application"
          heads={['Application', 'Requests', 'Errors', 'Average']}
          bars={statistics.clients.map(({ client, requests, errors, averageMs }) => ({
            key: client,
            label: client,
            value: requests,
            part: errors,
            cells: [formatCount(requests), formatCount(errors), averageMs === null ? '' : formatValue(averageMs, 'ms')],
          }))}
        />
      </div>
    </>
  )
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

/** The same steps in the time before, where there is one. Months differ in length, so they are not compared. */
function useSeriesBefore({ before, series }: TorznabStatistics): TorznabStatistics['series']['items'] {
  const { data } = useQuery({
    ...statisticsQuery({ from: before?.from, to: before?.to }),
    enabled: before !== null && series.step !== 'month',
  })
  return before !== null && data?.series.step === series.step ? data.series.items : []
}

function chartsOf({ series }: TorznabStatistics, before: TorznabStatistics['series']['items']) {
  const { items, step } = series
  const shape = items.length > MAX_BARS ? 'area' : 'bars'
  const chart = (unit: ChartData['unit'], ...lines: readonly Series[]): ChartData => ({
    unit,
    span: step,
    times: items.map(({ start }) => start),
    series: lines,
  })
  const past = (label: string, valueOf: (item: (typeof items)[number]) => number | null): readonly Series[] =>
    before.length === 0
      ? []
      : [
          {
            label,
            tone: 'text',
            shape: 'dashes',
            values: items.map((_, i) => (before[i] ? valueOf(before[i]) : null)),
          },
        ]
  return {
    requests: chart(
      'count',
      { label: 'Requests', tone: 'accent', shape, values: items.map(({ requests }) => requests) },
      ...past('Before', ({ requests }) => requests),
    ),
    times: chart(
      'ms',
      { label: '95 % within', tone: 'warn', shape: 'line', values: items.map(({ p95Ms }) => p95Ms) },
      { label: 'Average', tone: 'info', shape: 'line', values: items.map(({ averageMs }) => averageMs) },
      ...past('Average before', ({ averageMs }) => averageMs),
    ),
    errors: chart(
      'count',
      { label: 'Errors', tone: 'bad', shape, values: items.map(({ errors }) => errors) },
      ...past('Before', ({ errors }) => errors),
    ),
  }
}
