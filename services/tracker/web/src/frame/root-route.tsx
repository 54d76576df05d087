import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { Frame, NotFound } from './frame.tsx'

/** The route above all others. */
export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFound,
})
