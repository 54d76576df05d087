import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { adminRoute } from '../admin-route.tsx'

/** Where the staff starts. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const
