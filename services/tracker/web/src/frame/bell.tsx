import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { unreadNotices } from '../api/queries.ts'

/** The link to the notices, with the number of unread ones. */
export function Bell() {
  const { data } = useQuery(unreadNotices)
  const count = data === undefined || data.total === 0 ? '' : `${data.total}${data.totalIsExact ? '' : '+'}`
  return (
    <Link
      to="/notices"
      className="bell"
      title="Notices"
      aria-label={count === '' ? 'Notices' : `Notices, ${count} unread`}
      aria-keyshortcuts="g n"
    >
      <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <path d="M8 1.5a4.5 4.5 0 0 0-4.5 4.5v3L2 11.5h12L12.5 9V6A4.5 4.5 0 0 0 8 1.5ZM6.5 13a1.5 1.5 0 0 0 3 0" />
      </svg>
      {count !== '' && <span className="bell-count">{count}</span>}
    </Link>
  )
}
