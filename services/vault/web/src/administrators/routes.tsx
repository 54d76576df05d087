import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { administrators, sessions, start } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

export const administratorRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/administrators',
    loader: ({ context }) =>
      start(context.queries, (queries) => [queries.query(administrators), queries.query(sessions)]),
    component: lazyRouteComponent(() => import('./administrators-page.tsx'), 'AdministratorsPage'),
  }),
] as const
