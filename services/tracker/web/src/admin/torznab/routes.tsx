import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { RawSearch } from '@vault-and-tracker/web-kit/address'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { readTorznabSearch, type TorznabSearch } from './search.ts'

/** Administration of the Torznab API. */
export const torznabRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/torznab',
    validateSearch: (raw: RawSearch): TorznabSearch => readTorznabSearch(raw),
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => {
      // Loaded on demand, because members never need these queries.
      preload(import('./queries.ts').then(({ preloadTab }) => preloadTab(context.queries, deps)))
    },
    component: lazyRouteComponent(() => import('./torznab-page.tsx'), 'TorznabPage'),
  }),
] as const
