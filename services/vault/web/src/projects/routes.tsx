import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { allKeys, allProjects, start } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { keysOf } from './keys/queries.ts'
import { readProjectSearch, readProjectsSearch } from './search.ts'

export const projectRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/projects',
    validateSearch: readProjectsSearch,
    loader: ({ context }) => start(context.queries, (queries) => [queries.query(allProjects), queries.query(allKeys)]),
    component: lazyRouteComponent(() => import('./projects-page.tsx'), 'ProjectsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/projects/$name',
    validateSearch: readProjectSearch,
    loader: ({ context, params }) =>
      start(context.queries, (queries) => [queries.query(allProjects), queries.query(keysOf(params.name))]),
    component: lazyRouteComponent(() => import('./project-page.tsx'), 'ProjectPage'),
  }),
] as const
