import { adminRoute } from './admin-route.tsx'
import { overviewRoutes } from './overview/routes.tsx'
import { swarmRoutes } from './swarms/routes.tsx'
import { torznabRoutes } from './torznab/routes.tsx'

/** The staff's pages. */
export const adminRoutes = [adminRoute.addChildren([...overviewRoutes, ...swarmRoutes, ...torznabRoutes])] as const
