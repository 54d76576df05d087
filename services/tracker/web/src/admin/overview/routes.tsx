import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { overview } from './queries.ts'

/** Where the staff starts. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/',
    loader: ({ context }) => started(context.queries.query(overview)),
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const
