import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { RawSearch } from '@vault-and-tracker/web-kit/address'
import { notFoundIfMissing } from '@vault-and-tracker/web-kit/start'
import { rootRoute } from '../frame/root-route.tsx'
import { type DayRange, readDays, userStats } from '../standing/queries.ts'

/** Other members. */
export const userRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/users/$id',
    validateSearch: (raw: RawSearch): { days?: DayRange | undefined } => ({ days: readDays(raw['days']) }),
    loader: ({ context, params }) => notFoundIfMissing(context.queries.query(userStats(params.id))),
    component: lazyRouteComponent(() => import('./user-page.tsx'), 'UserPage'),
  }),
] as const
