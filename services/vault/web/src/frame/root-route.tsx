import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { NotFound } from './frame.tsx'

/** The route above all others. The router adds its component. */
export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({ notFoundComponent: NotFound })
