import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { siteSettings } from './queries.ts'

export const siteRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/site',
    loader: ({ context }) => preload(context.queries.query(siteSettings)),
    component: lazyRouteComponent(() => import('./site-page.tsx'), 'SitePage'),
  }),
] as const
