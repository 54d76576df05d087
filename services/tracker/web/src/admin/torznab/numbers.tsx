import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { Numbers } from '@vault-and-tracker/web-kit/layout'
import type { TorznabStatistics } from '../../api/client.ts'

/** The sums of a range, each with what it was in the time before. */
export function StatisticsNumbers({ statistics }: { statistics: TorznabStatistics }) {
  const { totals, before, requestsEver, requestsLast24Hours } = statistics
  const milliseconds = (value: number | null): string => (value === null ? 'none' : formatValue(value, 'ms'))
  const share = (part: { errors: number; requests: number }): string =>
    part.requests === 0 ? 'none' : `${((100 * part.errors) / part.requests).toFixed(1)} %`
  const note = (text: (before: NonNullable<TorznabStatistics['before']>) => string): string | undefined =>
    before === null ? undefined : text(before)
  return (
    <Numbers
      columns={3}
      figures={[
        {
          label: 'Requests',
          value: formatCount(totals.requests),
          note: note(({ requests }) => changeOf(totals.requests, requests)),
        },
        {
          label: 'Users',
          value: formatCount(totals.uniqueUsers),
          note: note(({ uniqueUsers }) => changeOf(totals.uniqueUsers, uniqueUsers)),
        },
        {
          label: 'Errors',
          value: `${formatCount(totals.errors)} (${share(totals)})`,
          note: note((past) => `before ${share(past)}`),
        },
        {
          label: 'Average response',
          value: milliseconds(totals.averageMs),
          note: note(({ averageMs }) => `before ${milliseconds(averageMs)}`),
        },
        {
          label: '95 % within',
          value: milliseconds(totals.p95Ms),
          note: note(({ p95Ms }) => `before ${milliseconds(p95Ms)}`),
        },
        {
          label: 'Requests ever',
          value: formatCount(requestsEver),
          note: `${formatCount(requestsLast24Hours)} in 24 hours`,
        },
      ]}
    />
  )
}

/** `+12 %, before 1,204`. */
function changeOf(now: number, before: number): string {
  const known = `before ${formatCount(before)}`
  if (before === 0) return known
  const percent = Math.round((100 * (now - before)) / before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${formatCount(Math.abs(percent))} %, ${known}`
}
