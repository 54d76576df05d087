import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { categories, started } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

/** Adding a torrent to the catalogue. */
export const uploadRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/upload',
    loader: ({ context }) => {
      started(context.queries.query(categories))
    },
    component: lazyRouteComponent(() => import('./upload-page.tsx'), 'UploadPage'),
  }),
] as const
