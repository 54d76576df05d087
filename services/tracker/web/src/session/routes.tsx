import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { site, started } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { readNext } from './next.ts'

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (raw: Readonly<Record<string, unknown>>): { next?: string | undefined } => ({
    next: readNext(raw['next']),
  }),
  loader: ({ context }) => {
    started(context.queries.query(site))
  },
  component: lazyRouteComponent(() => import('./login-page.tsx'), 'LoginPage'),
})

const registerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/register',
  validateSearch: (raw: Readonly<Record<string, unknown>>): { invite?: string | undefined } => ({
    invite: textOf(raw['invite']),
  }),
  loader: ({ context }) => {
    started(context.queries.query(site))
  },
  component: lazyRouteComponent(() => import('./register-page.tsx'), 'RegisterPage'),
})

/** The way in. */
export const sessionRoutes = [loginRoute, registerRoute] as const
