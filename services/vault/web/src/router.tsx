import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { ROUTER_DEFAULTS } from '@vault-and-tracker/web-kit/start'
import { administratorRoutes } from './administrators/routes.tsx'
import { auditRoutes } from './audit/routes.tsx'
import { expiringRoutes } from './expiring/routes.tsx'
import { createFrame } from './frame/frame.tsx'
import { rootRoute } from './frame/root-route.tsx'
import { overviewRoutes } from './overview/routes.tsx'
import { projectRoutes } from './projects/routes.tsx'
import { SignIn, SignInAgain } from './session/sign-in.tsx'

const routeTree = rootRoute
  .update({ component: createFrame({ SignIn, SignInAgain }) })
  .addChildren([...overviewRoutes, ...projectRoutes, ...expiringRoutes, ...administratorRoutes, ...auditRoutes])

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    ...ROUTER_DEFAULTS,
    routeTree,
    basepath: '/console',
    context: { queries },
    scrollRestoration: false,
  })
}

declare module '@tanstack/react-router' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- the library reads it from this interface
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
