import { notFound } from '@tanstack/react-router'
import { ApiError } from '../api/error.ts'
import { PagePending, PageProblem } from '../frame/page-states.tsx'

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

/** The parameters of an address as plain text, not as JSON. */
function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

/** The reverse of `parseSearch`; leaves out undefined and empty values. */
function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
