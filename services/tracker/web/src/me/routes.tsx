import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ownUser } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { type DayRange, readDays } from '../standing/queries.ts'

const TABS = ['seeding', 'keys', 'sessions', 'invites', 'password'] as const
/** The tabs behind the first, the statistics. */
export type MeTab = (typeof TABS)[number]

/** One's own account. */
export const meRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/me',
    validateSearch: (
      raw: Readonly<Record<string, unknown>>,
    ): { tab?: MeTab | undefined; days?: DayRange | undefined } => ({
      tab: TABS.find((tab) => tab === raw['tab']),
      days: readDays(raw['days']),
    }),
    loader: async ({ context }) => {
      await context.queries.query(ownUser)
    },
    component: lazyRouteComponent(() => import('./me-page.tsx'), 'MePage'),
  }),
] as const
