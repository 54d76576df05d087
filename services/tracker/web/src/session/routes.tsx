import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import { preload } from '@vault-and-tracker/web-kit/start'
import { site } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (raw: RawSearch): { next?: string | undefined } => ({ next: readNext(raw['next']) }),
  loader: ({ context }) => preload(context.queries.query(site)),
  component: lazyRouteComponent(() => import('./login-page.tsx'), 'LoginPage'),
})

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  loader: ({ context }) => preload(context.queries.query(site)),
  component: lazyRouteComponent(() => import('./setup-page.tsx'), 'SetupPage'),
})

const registerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/register',
  validateSearch: (raw: RawSearch): { invite?: string | undefined } => ({ invite: textIn(raw, 'invite', 200) }),
  loader: ({ context }) => preload(context.queries.query(site)),
  component: lazyRouteComponent(() => import('./register-page.tsx'), 'RegisterPage'),
})

const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset',
  loader: ({ context }) => preload(context.queries.query(site)),
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
})

const confirmEmailRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/confirm-email',
  component: lazyRouteComponent(() => import('./confirm-email-page.tsx'), 'ConfirmEmailPage'),
})

export const sessionRoutes = [loginRoute, setupRoute, registerRoute, resetRoute, confirmEmailRoute] as const

/** The page to open after signing in, which must be one of this application. */
function readNext(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !/^\/(?![/\\])/.test(raw)) return undefined
  const url = new URL(raw, location.origin)
  return url.origin === location.origin && !/^\/(login|setup|register|reset|confirm-email)/.test(url.pathname)
    ? raw
    : undefined
}
