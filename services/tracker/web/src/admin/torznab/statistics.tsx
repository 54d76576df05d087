import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { BarList, type ChartData, formatValue, type Series, TimeChart } from '@vault-and-tracker/web-kit/chart'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { Numbers, Ranges } from '@vault-and-tracker/web-kit/layout'
import { type ReactNode, useMemo } from 'react'
import type { TorznabStatistics } from '../../api/client.ts'
import { TimeFields } from '../parts/time-fields.tsx'
import { statistics as statisticsQuery } from './queries.ts'
import { FUNCTIONS, RANGES, readTorznabSearch, type TorznabSearch } from './search.ts'

/** The use of the API in a range, compared with the previous one. */
export function Statistics({ search }: { search: TorznabSearch }) {
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...statisticsQuery(search),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <RangePicker search={search} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading statistics…" />
      ) : data.requestsEver === 0 ? (
        <Empty title="No requests yet.">
          <Link to="/admin/torznab" search={{ tab: 'check' }}>
            Set up a tool
          </Link>
        </Empty>
      ) : (
        <div className="statistics" aria-busy={isPlaceholderData}>
          <p className="muted" role="status">
            {formatExactTime(data.from)} to {formatExactTime(data.to)},{' '}
            {data.before === null ? 'no earlier data for comparison' : 'compared with the previous period'}
          </p>
          <Totals statistics={data} />
          <Plots statistics={data} />
        </div>
      )}
    </>
  )
}

const LABELS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', all: 'All' } as const

function RangePicker({ search: { range, from, to } }: { search: TorznabSearch }) {
  const navigate = useNavigate()
  const isOwn = from !== undefined || to !== undefined
  return (
    <div className="range-picker">
      <Ranges
        label="Range"
        tabs={RANGES.map((each) => [each, LABELS[each]] as const)}
        current={isOwn ? undefined : (range ?? '24h')}
        initial="24h"
        without={['from', 'to']}
      />
      <details key={`${from} ${to}`} className="own-range" open={isOwn}>
        <summary>Custom range</summary>
        <form
          className="own-range-form"
          aria-label="Custom range"
          onSubmit={(event) => {
            event.preventDefault()
            const own = readTorznabSearch(Object.fromEntries(new FormData(event.currentTarget)))
            void navigate({ to: '/admin/torznab', search: own })
          }}
        >
          <TimeFields from={from} to={to} />
          <Button type="submit">Show</Button>
        </form>
      </details>
    </div>
  )
}

/** The totals of a range, each with its previous value. */
function Totals({ statistics }: { statistics: TorznabStatistics }) {
  const { totals, before, requestsEver, requestsLast24Hours } = statistics
  const figure = (label: string, textOf: (part: typeof totals) => string, change = '') => ({
    label,
    value: textOf(totals),
    note: before === null ? undefined : `${change}before ${textOf(before)}`,
  })
  const milliseconds = (value: number | null): string => (value === null ? 'none' : formatValue(value, 'ms'))
  return (
    <Numbers
      columns={3}
      figures={[
        figure('Requests', ({ requests }) => formatCount(requests), changeOf(totals.requests, before?.requests)),
        // Users of an earlier range are counted from their first to their newest request, so a change would be too low.
        { label: 'Users', value: formatCount(totals.uniqueUsers) },
        figure('Errors', ({ errors, requests }) => {
          const share = requests === 0 ? '' : ` (${((100 * errors) / requests).toFixed(1)} %)`
          return formatCount(errors) + share
        }),
        figure('Average response', ({ averageMs }) => milliseconds(averageMs)),
        {
          label: 'All requests',
          value: formatCount(requestsEver),
          note: `${formatCount(requestsLast24Hours)} in 24 hours`,
        },
      ]}
    />
  )
}

/** `+12 %, `. */
function changeOf(now: number, before = 0): string {
  if (before === 0) return ''
  const percent = Math.round((100 * (now - before)) / before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${formatCount(Math.abs(percent))} %, `
}

type Items = TorznabStatistics['series']['items']
type Measure = 'requests' | 'errors' | 'averageMs'

/** More bars than this cannot be distinguished. */
const MAX_BARS = 200

/** Requests, response times and errors over time, then by function and by application. */
function Plots({ statistics }: { statistics: TorznabStatistics }) {
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
      ...past('Previous average', 'averageMs'),
    ),
    errors: chart('count', line('Errors', 'errors', { tone: 'bad', shape }), ...past('Before', 'errors')),
  }
}
