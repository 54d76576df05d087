import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { clients } from './queries.ts'

export const clientRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/clients',
    loader: ({ context }) => preload(context.queries.query(clients)),
    component: lazyRouteComponent(() => import('./clients-page.tsx'), 'ClientsPage'),
  }),
] as const
