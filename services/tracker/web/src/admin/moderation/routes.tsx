import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { categories, started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { queue } from './queries.ts'
import { readQueueSearch } from './search.ts'

/** The moderation queue. */
export const moderationRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/moderation',
    validateSearch: readQueueSearch,
    loaderDeps: ({ search: { state, page } }) => ({ state, page }),
    loader: ({ context, deps }) => {
      started(context.queries.query(categories))
      started(context.queries.query(queue(deps.state ?? 'pending', deps.page)))
    },
    component: lazyRouteComponent(() => import('./moderation-page.tsx'), 'ModerationPage'),
  }),
] as const
