import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { oneOf, pageIn, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { notFoundIfMissing, preload } from '@vault-and-tracker/web-kit/start'
import { categories, ownUser } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { ListPage } from './list-page.tsx'
import { addressOf, readListSearch } from './list-search.ts'
import { torrent, torrentFiles, torrentList } from './queries.ts'
import { savedSearches } from './saved/queries.ts'
import { torrentDetails, torrentHistory } from './torrent-queries.ts'

const TABS = ['files', 'swarm', 'texts'] as const
type TorrentSearch = { tab?: (typeof TABS)[number] | undefined; page?: number | undefined }

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/torrents',
  validateSearch: readListSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queries }, deps }) => preload(queries.query(torrentList(deps)), queries.query(categories)),
  component: function List() {
    return <ListPage search={listRoute.useSearch()} />
  },
})

const torrentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/torrents/$id',
  validateSearch: (raw: RawSearch): TorrentSearch => ({ tab: oneOf(raw, 'tab', TABS), page: pageIn(raw) }),
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queries }, params, deps }) => {
    // Uploading tools of UNIT3D print links with a number. The server redirects signed-in users.
    if (/^\d+$/.test(params.id)) {
      await queries.query(ownUser)
      redirect({ href: `/unit3d/torrents/${params.id}`, reloadDocument: true, throw: true })
    }
    preload(queries.query(categories))
    if (deps.tab === undefined || deps.tab === 'texts') preload(queries.query(torrentDetails(params.id)))
    if (deps.tab === 'swarm') preload(queries.query(torrentHistory(params.id)))
    if (deps.tab === 'files') preload(queries.query(torrentFiles(params.id, deps.page ?? 1)))
    return notFoundIfMissing(queries.query(torrent(params.id)))
  },
  component: lazyRouteComponent(() => import('./torrent-page.tsx'), 'TorrentPage'),
})

const savedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/saved',
  loader: ({ context: { queries } }) => preload(queries.query(savedSearches), queries.query(categories)),
  component: lazyRouteComponent(() => import('./saved/saved-page.tsx'), 'SavedPage'),
})

/** Links of notices have the id of a saved search; its filters may have changed since. */
const savedListRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/saved/$id',
  beforeLoad: async ({ context: { queries }, params }) => {
    const saved = (await queries.query(savedSearches)).find(({ id }) => id === params.id)
    if (saved === undefined) redirect({ to: '/saved', replace: true, throw: true })
    else redirect({ to: '/torrents', search: addressOf(saved), replace: true, throw: true })
  },
})

export const torrentRoutes = [listRoute, torrentRoute, savedRoute, savedListRoute] as const
