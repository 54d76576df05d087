import { formatValue } from '@vault-and-tracker/web-kit/chart'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { TorznabStatistics } from '../../api/client.ts'

/** The sums of a range, each with what it was in the time before. */
export function Numbers({ statistics }: { statistics: TorznabStatistics }) {
  const { totals, before, requestsEver, requestsLast24Hours } = statistics
  const milliseconds = (value: number | null): string => (value === null ? 'none' : formatValue(value, 'ms'))
  const share = (part: { errors: number; requests: number }): string =>
    part.requests === 0 ? 'none' : `${((100 * part.errors) / part.requests).toFixed(1)} %`
  return (
    <dl className="numbers statistics-numbers">
      {(
        [
          ['Requests', formatCount(totals.requests), before && changeOf(totals.requests, before.requests)],
          ['Users', formatCount(totals.uniqueUsers), before && changeOf(totals.uniqueUsers, before.uniqueUsers)],
          ['Errors', `${formatCount(totals.errors)} (${share(totals)})`, before && `before ${share(before)}`],
          ['Average response', milliseconds(totals.averageMs), before && `before ${milliseconds(before.averageMs)}`],
          ['95 % within', milliseconds(totals.p95Ms), before && `before ${milliseconds(before.p95Ms)}`],
          ['Requests ever', formatCount(requestsEver), `${formatCount(requestsLast24Hours)} in 24 hours`],
        ] as const
      ).map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value}
            {note !== null && <span className="note">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** `+12 %, before 1,204`. */
function changeOf(now: number, before: number): string {
  const known = `before ${formatCount(before)}`
  if (before === 0) return known
  const percent = Math.round((100 * (now - before)) / before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${formatCount(Math.abs(percent))} %, ${known}`
}
