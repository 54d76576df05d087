import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { oneOf, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { preload } from '@vault-and-tracker/web-kit/start'
import { ownUser } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { type DayRange, readDays } from '../standing/queries.ts'
import { ownTorrents, ownTotals } from './torrents/queries.ts'
import { readOwnSearch } from './torrents/search.ts'

const TABS = ['keys', 'sessions', 'invites', 'security'] as const
type MeSearch = { tab?: (typeof TABS)[number] | undefined; days?: DayRange | undefined }

export const meRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/me',
    validateSearch: (raw: RawSearch): MeSearch => ({ tab: oneOf(raw, 'tab', TABS), days: readDays(raw['days']) }),
    loader: async ({ context }) => {
      await context.queries.query(ownUser)
    },
    component: lazyRouteComponent(() => import('./me-page.tsx'), 'MePage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/me/torrents',
    validateSearch: readOwnSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context: { queries }, deps }) =>
      preload(queries.query(ownTorrents(deps)), queries.query(ownTotals(deps.list ?? 'uploads'))),
    component: lazyRouteComponent(() => import('./torrents/torrents-page.tsx'), 'OwnTorrentsPage'),
  }),
] as const
