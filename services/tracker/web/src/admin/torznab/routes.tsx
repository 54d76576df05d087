import type { QueryClient } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ownUser, site, started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { blocks, presets, requests, settings, statistics, users } from './queries.ts'
import { readTorznabSearch, requestSearchOf, type TorznabSearch } from './search.ts'

/** The panel of the Torznab API. */
export const torznabRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/torznab',
    validateSearch: readTorznabSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => {
      started(preload(context.queries, deps))
    },
    component: lazyRouteComponent(() => import('./torznab-page.tsx'), 'TorznabPage'),
  }),
] as const

/** What the tab of an address shows first. */
function preload(queries: QueryClient, search: TorznabSearch): Promise<unknown> {
  switch (search.tab) {
    case undefined:
      return queries.query(statistics(search))
    case 'configuration':
      return Promise.all([queries.query(settings), queries.query(presets)])
    case 'users':
      return queries.query(users(search))
    case 'requests':
      return queries.query(requests(requestSearchOf(search)))
    case 'blocks':
      return Promise.all([queries.query(blocks), queries.query(users({ blocked: 'true' }))])
    case 'check':
      return Promise.all([queries.query(ownUser), queries.query(site)])
  }
}
