import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { pageIn, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { notFoundIfMissing, preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { busiestTorrents, swarmHistory, swarmTotals, torrentPeers } from './queries.ts'
import { readSwarmsSearch } from './search.ts'

export const swarmRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/swarms',
    validateSearch: readSwarmsSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context: { queries }, deps }) =>
      preload(
        queries.query(swarmTotals),
        queries.query(swarmHistory(deps.range ?? '24h')),
        queries.query(busiestTorrents(deps.busiest ?? 'peers')),
      ),
    component: lazyRouteComponent(() => import('./swarms-page.tsx'), 'SwarmsPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/swarms/$id',
    validateSearch: (raw: RawSearch): { page?: number | undefined } => ({ page: pageIn(raw) }),
    loaderDeps: ({ search }) => search,
    loader: ({ context, params, deps }) =>
      notFoundIfMissing(context.queries.query(torrentPeers(params.id, deps.page ?? 1))),
    component: lazyRouteComponent(() => import('./peers-page.tsx'), 'PeersPage'),
  }),
] as const
