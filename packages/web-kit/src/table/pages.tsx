import type { ReactNode } from 'react'
import { formatCount } from '../format/index.ts'

/** A page of a list as the API answers it. */
export type Listed = {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly totalIsExact: boolean
}

/** A list whose total is not exact ends here, however many there are. */
const MAX_OFFSET = 10_000

/** The way to the pages before and after. `link` makes a link to a page; the first has no number in its address. */
export function Pages(props: { list: Listed; link: (page: number | undefined, text: string) => ReactNode }) {
  const { list, link } = props
  const { page, limit, total, totalIsExact } = list
  const last = Math.max(1, Math.ceil(total / limit))
  if (page === 1 && last === 1 && totalIsExact) return null
  // A list may have become shorter.
  const before = totalIsExact ? Math.min(page - 1, last) : page - 1
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 && link(before === 1 ? undefined : before, 'Previous')}
      <span className="muted">
        Page {formatCount(page)} of {formatCount(last)}
        {!totalIsExact && '+'}
      </span>
      {(totalIsExact ? page < last : page * limit <= MAX_OFFSET) && link(page + 1, 'Next')}
    </nav>
  )
}

/** How many there are: `1 user`, `12 users`, `5,000+ users`. */
export function totalText({ total, totalIsExact }: Pick<Listed, 'total' | 'totalIsExact'>, one: string): string {
  const count = `${formatCount(total)}${totalIsExact ? '' : '+'}`
  return `${count} ${count === '1' ? one : `${one}s`}`
}
