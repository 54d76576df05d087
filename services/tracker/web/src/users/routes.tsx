import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { rootRoute } from '../frame/root-route.tsx'
import { type DayRange, readDays, userStats } from '../standing/queries.ts'

/** Another member. */
export const userRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/users/$id',
    validateSearch: (raw: Readonly<Record<string, unknown>>): { days?: DayRange | undefined } => ({
      days: readDays(raw['days']),
    }),
    loader: async ({ context, params }) => {
      await context.queries.query(userStats(params.id)).catch((error: unknown) => {
        throw error instanceof ApiError && error.status === 404 ? notFound() : error
      })
    },
    component: lazyRouteComponent(() => import('./user-page.tsx'), 'UserPage'),
  }),
] as const
