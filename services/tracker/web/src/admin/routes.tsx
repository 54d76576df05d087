import { adminRoute } from './admin-route.tsx'
import { categoryRoutes } from './categories/routes.tsx'
import { clientRoutes } from './clients/routes.tsx'
import { logRoutes } from './log/routes.tsx'
import { moderationRoutes } from './moderation/routes.tsx'
import { overviewRoutes } from './overview/routes.tsx'
import { reportRoutes } from './reports/routes.tsx'
import { rulesRoutes } from './rules/routes.tsx'
import { siteRoutes } from './site/routes.tsx'
import { swarmRoutes } from './swarms/routes.tsx'
import { torznabRoutes } from './torznab/routes.tsx'
import { userRoutes } from './users/routes.tsx'

export const adminRoutes = [
  adminRoute.addChildren([
    ...overviewRoutes,
    ...swarmRoutes,
    ...moderationRoutes,
    ...reportRoutes,
    ...clientRoutes,
    ...categoryRoutes,
    ...userRoutes,
    ...torznabRoutes,
    ...rulesRoutes,
    ...siteRoutes,
    ...logRoutes,
  ]),
] as const
