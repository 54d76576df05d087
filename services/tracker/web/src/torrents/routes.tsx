import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { categories, started } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { ListPage } from './list-page.tsx'
import { readListSearch, readPage } from './list-search.ts'
import { torrent, torrentFiles, torrentList } from './queries.ts'

const TABS = ['files', 'swarm'] as const
/** The further tabs of a torrent's page. */
export type TorrentTab = (typeof TABS)[number]

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/torrents',
  validateSearch: readListSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    started(context.queries.query(torrentList(deps)))
    started(context.queries.query(categories))
  },
  component: function List() {
    return <ListPage search={listRoute.useSearch()} />
  },
})

const torrentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/torrents/$id',
  validateSearch: (
    raw: Readonly<Record<string, unknown>>,
  ): { tab?: TorrentTab | undefined; page?: number | undefined } => ({
    tab: TABS.find((tab) => tab === raw['tab']),
    page: readPage(raw['page']),
  }),
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    started(context.queries.query(categories))
    if (deps.tab === 'files') started(context.queries.query(torrentFiles(params.id, deps.page ?? 1)))
    await context.queries.query(torrent(params.id)).catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 404 ? notFound() : error
    })
  },
  component: lazyRouteComponent(() => import('./torrent-page.tsx'), 'TorrentPage'),
})

/** The catalogue and its torrents. */
export const torrentRoutes = [listRoute, torrentRoute] as const
