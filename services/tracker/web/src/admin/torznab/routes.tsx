import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { readTorznabSearch } from './search.ts'

/** The panel of the Torznab API. */
export const torznabRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/torznab',
    validateSearch: readTorznabSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => {
      // Members never need these queries, so they are not in the first script.
      preload(import('./preload.ts').then(({ preloadTab }) => preloadTab(context.queries, deps)))
    },
    component: lazyRouteComponent(() => import('./torznab-page.tsx'), 'TorznabPage'),
  }),
] as const
