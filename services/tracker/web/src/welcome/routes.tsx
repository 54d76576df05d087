import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { preload } from '@vault-and-tracker/web-kit/start'
import { ownUser, rules } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  loader: async ({ context }) => {
    preload(context.queries.query(rules))
    await context.queries.query(ownUser)
  },
  component: lazyRouteComponent(() => import('./welcome-page.tsx'), 'WelcomePage'),
})

const rulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/rules',
  loader: ({ context }) => preload(context.queries.query(rules)),
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
})

export const welcomeRoutes = [welcomeRoute, rulesRoute] as const
