import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { ROUTER_DEFAULTS } from '@vault-and-tracker/web-kit/start'
import { adminRoutes } from './admin/routes.tsx'
import { rootRoute } from './frame/root-route.tsx'
import { meRoutes } from './me/routes.tsx'
import { noticeRoutes } from './notices/routes.tsx'
import { sessionRoutes } from './session/routes.tsx'
import { torrentRoutes } from './torrents/routes.tsx'
import { uploadRoutes } from './upload/routes.tsx'
import { userRoutes } from './users/routes.tsx'
import { welcomeRoutes } from './welcome/routes.tsx'

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => redirect({ to: '/torrents', replace: true, throw: true }),
})

const routeTree = rootRoute.addChildren([
  startRoute,
  ...sessionRoutes,
  ...torrentRoutes,
  ...uploadRoutes,
  ...meRoutes,
  ...noticeRoutes,
  ...userRoutes,
  ...welcomeRoutes,
  ...adminRoutes,
])

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    ...ROUTER_DEFAULTS,
    routeTree,
    context: { queries },
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- the library reads it from this interface
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
