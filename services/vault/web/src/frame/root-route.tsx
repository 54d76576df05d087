import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { NotFound } from './not-found.tsx'

/** The route above all others; the router gives it its component. */
export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({ notFoundComponent: NotFound })
