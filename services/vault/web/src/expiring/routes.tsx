import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { oneOf, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { start } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { DAYS, type Days, expiringWithin } from './queries.ts'

export const expiringRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/expiring',
    validateSearch: (raw: RawSearch): { days?: Days | undefined } => {
      const days = oneOf(raw, 'days', DAYS)
      return { days: days === '30' ? undefined : days }
    },
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) =>
      start(context.queries, (queries) => [queries.query(expiringWithin(deps.days ?? '30'))]),
    component: lazyRouteComponent(() => import('./expiring-page.tsx'), 'ExpiringPage'),
  }),
] as const
