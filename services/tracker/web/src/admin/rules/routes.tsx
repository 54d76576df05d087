import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { rules } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { rulesVersions } from './queries.ts'

export const rulesRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/rules',
    loader: ({ context }) => preload(context.queries.query(rules), context.queries.query(rulesVersions)),
    component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
  }),
] as const
