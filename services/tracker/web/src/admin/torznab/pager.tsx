import { Link } from '@tanstack/react-router'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { PAGE_SIZE } from './queries.ts'
import type { TorznabSearch } from './search.ts'

/** The way to the pages before and after. Of a long list the number of pages is not known. */
export function Pager({ search, total, isExact }: { search: TorznabSearch; total: number; isExact: boolean }) {
  const page = search.page ?? 1
  const last = Math.max(1, Math.ceil(total / PAGE_SIZE))
  if (page === 1 && last === 1 && isExact) return null
  const link = (to: number, text: string) => (
    <Link to="/admin/torznab" search={{ ...search, page: to === 1 ? undefined : to }} className="button">
      {text}
    </Link>
  )
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 && link(page - 1, 'Previous')}
      <span className="muted">
        Page {formatCount(page)} of {formatCount(last)}
        {!isExact && '+'}
      </span>
      {(page < last || !isExact) && link(page + 1, 'Next')}
    </nav>
  )
}
