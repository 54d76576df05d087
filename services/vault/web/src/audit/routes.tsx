import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { allProjects, start } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { auditPage, verification } from './queries.ts'
import { readAuditSearch } from './search.ts'

export const auditRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/audit',
    validateSearch: readAuditSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) =>
      start(context.queries, (queries) => [
        queries.query(auditPage(deps)),
        queries.query(verification),
        queries.query(allProjects),
      ]),
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const
