import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { categories } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

export const uploadRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/upload',
    loader: ({ context }) => preload(context.queries.query(categories)),
    component: lazyRouteComponent(() => import('./upload-page.tsx'), 'UploadPage'),
  }),
] as const
