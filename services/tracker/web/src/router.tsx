import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { adminRoutes } from './admin/routes.tsx'
import { PagePending } from './frame/page-pending.tsx'
import { PageProblem } from './frame/page-problem.tsx'
import { rootRoute } from './frame/root-route.tsx'
import { meRoutes } from './me/routes.tsx'
import { sessionRoutes } from './session/routes.tsx'
import { torrentRoutes } from './torrents/routes.tsx'
import { uploadRoutes } from './upload/routes.tsx'
import { userRoutes } from './users/routes.tsx'

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
  ...userRoutes,
  ...adminRoutes,
])

/** The application's addresses. Parameters are plain text, as everywhere on the web. */
export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search: Readonly<Record<string, unknown>>) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
      return text === '' ? '' : `?${text}`
    },
    defaultErrorComponent: PageProblem,
    defaultPreload: 'intent',
    // Query decides what is fresh.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // The old page stays for a moment, since most pages are there by then.
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PagePending,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
