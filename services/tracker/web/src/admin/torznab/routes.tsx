import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { readTorznabSearch } from './search.ts'

/** Administration of the Torznab API. */
export const torznabRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/torznab',
    validateSearch: readTorznabSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => {
      // Loaded on demand, because members never need these queries.
      preload(import('./preload.ts').then(({ preloadTab }) => preloadTab(context.queries, deps)))
    },
    component: lazyRouteComponent(() => import('./torznab-page.tsx'), 'TorznabPage'),
  }),
] as const
