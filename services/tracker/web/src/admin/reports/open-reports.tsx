import { useQuery } from '@tanstack/react-query'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { reports } from './queries.ts'

/** The number of open reports, shown next to the link to them. */
export function OpenReports() {
  const { data } = useQuery(reports({}))
  if (data === undefined || data.total === 0) return null
  return (
    <span className="waiting">
      {formatCount(data.total)}
      {!data.totalIsExact && '+'}
      <span className="visually-hidden"> open</span>
    </span>
  )
}
