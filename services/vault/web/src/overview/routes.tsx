import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { oneOf, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { activityOf, RANGES, type Range } from '../activity/queries.ts'
import { allKeys, start } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { overview } from './queries.ts'

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    validateSearch: (raw: RawSearch): { range?: Range | undefined } => {
      const range = oneOf(raw, 'range', RANGES)
      return { range: range === '24h' ? undefined : range }
    },
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) =>
      start(context.queries, (queries) => [
        queries.query(overview),
        queries.query(allKeys),
        queries.query(activityOf(deps.range ?? '24h')),
      ]),
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const
