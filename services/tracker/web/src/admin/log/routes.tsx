import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { logPage } from './queries.ts'
import { readLogSearch } from './search.ts'

export const logRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/log',
    validateSearch: readLogSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => preload(context.queries.query(logPage(deps))),
    component: lazyRouteComponent(() => import('./log-page.tsx'), 'LogPage'),
  }),
] as const
