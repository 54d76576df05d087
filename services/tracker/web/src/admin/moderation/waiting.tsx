import { useQuery } from '@tanstack/react-query'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { waiting } from './queries.ts'

/** The number of torrents awaiting approval, shown next to the link to them. */
export function Waiting() {
  const { data } = useQuery(waiting)
  if (data === undefined || data.total === 0) return null
  return (
    <span className="waiting">
      {formatCount(data.total)}
      {!data.totalIsExact && '+'}
      <span className="visually-hidden"> pending</span>
    </span>
  )
}
