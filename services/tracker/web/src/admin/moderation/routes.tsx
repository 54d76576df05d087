import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { notFoundIfMissing, preload } from '@vault-and-tracker/web-kit/start'
import { categories } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { queue, userRecord } from './queries.ts'
import { readQueueSearch } from './search.ts'

export const moderationRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/moderation',
    validateSearch: readQueueSearch,
    loaderDeps: ({ search: { state, page } }) => ({ state, page }),
    loader: ({ context: { queries }, deps }) =>
      preload(queries.query(categories), queries.query(queue(deps.state ?? 'pending', deps.page))),
    component: lazyRouteComponent(() => import('./moderation-page.tsx'), 'ModerationPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/moderation/users/$id',
    loader: ({ context, params }) => notFoundIfMissing(context.queries.query(userRecord(params.id))),
    component: lazyRouteComponent(() => import('./record-page.tsx'), 'RecordPage'),
  }),
] as const
