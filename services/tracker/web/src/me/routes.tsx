import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ownUser } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

const TABS = ['keys', 'sessions', 'invites', 'password'] as const
/** The tabs behind the first, the statistics. */
export type MeTab = (typeof TABS)[number]

/** One's own account. */
export const meRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/me',
    validateSearch: (raw: Readonly<Record<string, unknown>>): { tab?: MeTab | undefined } => ({
      tab: TABS.find((tab) => tab === raw['tab']),
    }),
    loader: async ({ context }) => {
      await context.queries.query(ownUser)
    },
    component: lazyRouteComponent(() => import('./me-page.tsx'), 'MePage'),
  }),
] as const
