import { Link } from '@tanstack/react-router'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { ListSearch } from './list-search.ts'

/** The way to the pages before and after. Of a long list the number of pages is not known. */
export function Pages(props: { search: ListSearch; total: number; hasMore: boolean; pageSize: number }) {
  const { search, total, hasMore, pageSize } = props
  const page = search.page ?? 1
  const last = Math.ceil(total / pageSize)
  if (page === 1 && last <= 1 && !hasMore) return null
  const link = (to: number, text: string) => (
    <Link to="/torrents" search={{ ...search, page: to === 1 ? undefined : to }} className="button">
      {text}
    </Link>
  )
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 && link(page - 1, 'Previous')}
      <span className="muted">
        Page {formatCount(page)} of {formatCount(last)}
        {hasMore && '+'}
      </span>
      {(page < last || hasMore) && link(page + 1, 'Next')}
    </nav>
  )
}
