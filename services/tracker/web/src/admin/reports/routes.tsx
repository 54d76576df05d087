import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { reports } from './queries.ts'
import { readReportSearch } from './search.ts'

export const reportRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/reports',
    validateSearch: readReportSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => preload(context.queries.query(reports(deps))),
    component: lazyRouteComponent(() => import('./reports-page.tsx'), 'ReportsPage'),
  }),
] as const
