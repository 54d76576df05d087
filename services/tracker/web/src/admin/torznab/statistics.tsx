import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { TorznabStatistics } from '../../api/client.ts'
import { StatisticsNumbers } from './numbers.tsx'
import { Plots } from './plots.tsx'
import { MINUTE_MS, statistics } from './queries.ts'
import { RangePicker } from './range-picker.tsx'
import type { TorznabSearch } from './search.ts'

/** How the API was used in a range, compared with the time before. */
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
        <Pending error={error} onRetry={() => void refetch()} rows={12} label="Statistics are loading." />
      ) : data.requestsEver === 0 ? (
        <Empty title="No tool has asked yet.">
          <Link to="/admin/torznab" search={{ tab: 'check' }}>
            What to enter in Sonarr, Radarr and the others
          </Link>
        </Empty>
      ) : (
        <div className="statistics" aria-busy={isPlaceholderData}>
          <p className="muted" role="status">
            {formatExactTime(data.from)} to {formatExactTime(data.to)}
            {comparison(data)}
          </p>
          <StatisticsNumbers statistics={data} />
          <Plots statistics={data} />
        </div>
      )}
    </>
  )
}

function comparison({ before }: TorznabStatistics): string {
  return before === null ? ', with nothing before to compare with' : `, compared with as long a time before`
}
