import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { siteSettings } from './queries.ts'

/** The settings of the whole site. */
export const siteRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/site',
    loader: ({ context }) => started(context.queries.query(siteSettings)),
    component: lazyRouteComponent(() => import('./site-page.tsx'), 'SitePage'),
  }),
] as const
