import { queryOptions, useQuery } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { Gauge, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatCount, formatDuration, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { api, type TorznabUsage } from '../api/client.ts'

const usage = queryOptions({
  queryKey: ['me', 'torznab'],
  queryFn: ({ signal }) => read(api.GET('/api/user/torznab', { signal })),
  refetchInterval: 5_000,
})

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The member's Torznab requests in the current window, and their limits. */
export function TorznabMeter() {
  const { data, error, refetch } = useQuery(usage)
  return (
    <section className="card" aria-labelledby="torznab-meter">
      <h2 id="torznab-meter">Torznab limits</h2>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={2} label="Loading limits…" />
      ) : (
        <>
          {refusalOf(data) !== undefined && <p className="notice">{refusalOf(data)}</p>}
          <Gauge label="Searches" {...data.searches} text={textOf(data.searches)} />
          <Gauge label="Downloads" {...data.downloads} text={textOf(data.downloads)} />
          <p className="muted">
            Shared by all your tools, per {formatDuration(data.windowSeconds)}. The next window starts at{' '}
            <time dateTime={data.resetsAt}>{clock.format(new Date(data.resetsAt))}</time>.
          </p>
        </>
      )}
    </section>
  )
}

function textOf({ used, limit }: TorznabUsage['searches']): string {
  const left = Math.max(0, limit - used)
  return `${formatCount(used)} of ${formatCount(limit)} used, ${left === 0 ? 'none' : formatCount(left)} left`
}

/** The reason why the API refuses all requests; undefined if it does not. */
function refusalOf({ enabled, blocked, addressBlockedUntil }: TorznabUsage): string | undefined {
  if (!enabled) return 'The Torznab API is currently disabled.'
  if (blocked) return 'Staff blocked you from the Torznab API.'
  if (addressBlockedUntil === null) return undefined
  return `Your address exceeded the limits too often and is blocked until ${formatExactTime(addressBlockedUntil)}.`
}
