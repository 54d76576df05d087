import { Link } from '@tanstack/react-router'
import { Empty } from '../feedback/states.tsx'
import { formatCount, formatNumberOf } from '../format/index.ts'

/** A page of a list as the API returns it. */
export type Listed = {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly totalIsExact: boolean
  readonly items: readonly unknown[]
}

/** A list without an exact total ends here. */
const MAX_OFFSET = 10_000

/** Links to the previous and next page. `without` is a parameter that a page does not share with the others. */
export function Pages({ list, without }: { list: Listed; without?: string }) {
  const { page, limit, totalIsExact, items } = list
  const last = lastPageOf(list)
  if (page === 1 && last === 1 && totalIsExact) return null
  // The list may have become shorter than the address says.
  const before = totalIsExact ? Math.min(page - 1, last) : page - 1
  const isLast = totalIsExact ? page >= last : items.length < limit || page * limit > MAX_OFFSET
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 && <PageLink page={before} text="Previous" without={without} />}
      <span className="muted">
        Page {formatCount(page)} of {formatCount(isLast ? Math.max(page, last) : last)}
        {!totalIsExact && !isLast && '+'}
      </span>
      {!isLast && <PageLink page={page + 1} text="Next" without={without} />}
    </nav>
  )
}

/** A list that is known to end has a last page. */
function lastPageOf({ total, limit }: Pick<Listed, 'total' | 'limit'>): number {
  return Math.max(1, Math.ceil(total / limit))
}

/** Takes the place of a page after the last one. The items that were there may have been deleted or moved. */
export function NoSuchPage({ list }: { list: Omit<Listed, 'items'> }) {
  const last = lastPageOf(list)
  return (
    <Empty title={`There is no page ${formatCount(list.page)}.`}>
      <div className="form-actions">
        {list.totalIsExact && last > 1 && <PageLink page={last} text="Last page" />}
        <PageLink page={1} text="First page" />
      </div>
    </Empty>
  )
}

/** The address of the first page has no number. */
function PageLink({ page, text, without }: { page: number; text: string; without?: string | undefined }) {
  const searchOf = (before: Readonly<Record<string, unknown>>) => ({
    ...before,
    ...(without !== undefined && { [without]: undefined }),
    page: page === 1 ? undefined : page,
  })
  return (
    <Link to="." search={searchOf} className="button">
      {text}
    </Link>
  )
}

/** `1 user`, `12 users`, `5,000+ users`. */
export function totalText({ total, totalIsExact }: Pick<Listed, 'total' | 'totalIsExact'>, one: string): string {
  return totalIsExact ? formatNumberOf(total, one) : `${formatCount(total)}+ ${one}s`
}
