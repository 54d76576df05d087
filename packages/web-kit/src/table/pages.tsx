import { Link } from '@tanstack/react-router'
import { Empty } from '../feedback/states.tsx'
import { formatCount, formatNumberOf } from '../format/index.ts'

/** A page of a list as the API returns it. */
export type Listed = {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly totalIsExact: boolean
}

/** A list without an exact total ends here. */
const MAX_OFFSET = 10_000

/** Links to the previous and next page. `without` is a parameter that a page does not share with the others. */
export function Pages({ list, without }: { list: Listed; without?: string }) {
  const { page, limit, total, totalIsExact } = list
  const last = Math.max(1, Math.ceil(total / limit))
  if (page === 1 && last === 1 && totalIsExact) return null
  // The list may have become shorter than the address says.
  const before = totalIsExact ? Math.min(page - 1, last) : page - 1
  const isLast = totalIsExact ? page >= last : page * limit > MAX_OFFSET
  return (
    <nav className="pages" aria-label="Pages">
      {page > 1 && <PageLink page={before} text="Previous" without={without} />}
      <span className="muted">
        Page {formatCount(page)} of {formatCount(last)}
        {!totalIsExact && '+'}
      </span>
      {!isLast && <PageLink page={page + 1} text="Next" without={without} />}
    </nav>
  )
}

/** Takes the place of a page after the last one. */
export function NoSuchPage({ page }: { page: number }) {
  return (
    <Empty title={`There is no page ${formatCount(page)}.`}>
      <PageLink page={1} text="First page" />
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
