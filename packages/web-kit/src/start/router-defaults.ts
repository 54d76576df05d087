import { notFound } from '@tanstack/react-router'
import { parseSearch, stringifySearch } from '../address/index.ts'
import { ApiError } from '../api/error.ts'
import { PagePending } from '../frame/page-pending.tsx'
import { PageProblem } from '../frame/page-problem.tsx'

/** What the routers of all applications have in common. */
export const ROUTER_DEFAULTS = {
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  // The old page stays for a moment, because most pages load faster than this.
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageProblem,
} as const

/** Waits for the read that a page cannot do without. A 404 shows the page for unknown addresses. */
export async function notFoundIfMissing(read: Promise<unknown>): Promise<void> {
  await read.catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? notFound() : error
  })
}
