import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { overview } from './queries.ts'

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/',
    loader: ({ context }) => preload(context.queries.query(overview)),
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const
