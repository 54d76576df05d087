import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { logPage } from './queries.ts'
import { readLogSearch } from './search.ts'

/** The admin log. */
export const logRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/log',
    validateSearch: readLogSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => started(context.queries.query(logPage(deps))),
    component: lazyRouteComponent(() => import('./log-page.tsx'), 'LogPage'),
  }),
] as const
