import { adminRoute } from './admin-route.tsx'
import { overviewRoutes } from './overview/routes.tsx'

/** The staff's pages. */
export const adminRoutes = [adminRoute.addChildren([...overviewRoutes])] as const
