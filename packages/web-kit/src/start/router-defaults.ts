import { parseSearch, stringifySearch } from '../address/index.ts'
import { PagePending } from '../frame/page-pending.tsx'

/** How every application's router reads addresses, loads pages ahead and shows that a page is awaited. */
export const ROUTER_DEFAULTS = {
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  // The old page stays for a moment, since most pages are there by then.
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  defaultPendingComponent: PagePending,
} as const
