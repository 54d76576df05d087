import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { Numbers, Ranges } from '@vault-and-tracker/web-kit/layout'
import type { TorznabStatistics } from '../../api/client.ts'
import { Plots } from './plots.tsx'
import { MINUTE_MS, statistics } from './queries.ts'
import { RANGES, type TorznabSearch } from './search.ts'
import { rangeIn, TimeFields } from './time-fields.tsx'

/** How the API was used in a range, compared with the same range before. */
export function Statistics({ search }: { search: TorznabSearch }) {
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...statistics(search),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })
  return (
    <>
      <RangePicker search={search} />
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading statistics." />
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
            {data.before === null ? 'without earlier data to compare' : 'compared with the same period before'}
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
        <summary>Other range</summary>
        <form
          className="own-range-form"
          aria-label="Other range"
          onSubmit={(event) => {
            event.preventDefault()
            void navigate({ to: '/admin/torznab', search: rangeIn(new FormData(event.currentTarget)) })
          }}
        >
          <TimeFields from={from} to={to} />
          <Button type="submit">Show</Button>
        </form>
      </details>
    </div>
  )
}

/** The totals of a range, each with its value before. */
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
