import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { busiestTorrents, swarmHistory, swarmTotals, torrentPeers } from './queries.ts'
import { readPage, readSwarmsSearch } from './search.ts'

/** All swarms, and the peers of one. */
export const swarmRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/swarms',
    validateSearch: readSwarmsSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => {
      started(context.queries.query(swarmTotals))
      started(context.queries.query(swarmHistory(deps.range ?? '24h')))
      started(context.queries.query(busiestTorrents(deps.busiest ?? 'peers')))
    },
    component: lazyRouteComponent(() => import('./swarms-page.tsx'), 'SwarmsPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/swarms/$id',
    validateSearch: readPage,
    loaderDeps: ({ search }) => search,
    loader: async ({ context, params, deps }) => {
      await context.queries.query(torrentPeers(params.id, deps.page ?? 1)).catch((error: unknown) => {
        throw error instanceof ApiError && error.status === 404 ? notFound() : error
      })
    },
    component: lazyRouteComponent(() => import('./peers-page.tsx'), 'PeersPage'),
  }),
] as const
