import { healthRoutes } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import express, { type Express, type RequestHandler, Router } from 'express'
import { requireAdmin } from './admin/admin.middleware.ts'
import { auditRoutes } from './audit/audit.routes.ts'
import type { Context } from './context.ts'
import { errorHandler, methods, standardHeaders, unknownPath } from './http.ts'
import { projectRoutes } from './projects/projects.routes.ts'
import { secretRoutes } from './secrets/secrets.routes.ts'
import { secretAdminRoutes } from './secrets/secrets-admin.routes.ts'

/** The HTTP surface: every answer is JSON (the metrics excepted), none may be cached, paths are taken literally. */
export function createApp(context: Context, options: { logger: Logger; stopping: AbortSignal }): Express {
  const { projects, secrets, audit, metrics, checks, addressOf } = context
  const { logger, stopping } = options
  const app = express()
  app.disable('x-powered-by')
  // An ETag would be a hash of secrets.
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  app.enable('strict routing')

  app.use(standardHeaders, metrics.middleware)
  app.use(secretRoutes(context))
  // Routers know their whole paths: Express forgets a prefix when an error leaves the router, and the metrics need it.
  app.use('/v1/admin', requireAdmin({ isToken: context.isToken, guard: context.adminGuard }))
  app.use(
    projectRoutes({ projects, addressOf }),
    secretAdminRoutes({ secrets, addressOf }),
    auditRoutes({ store: audit }),
  )
  app.use(readOnly(['/health', '/ready', '/metrics']))
  app.use(healthRoutes({ checks, stopping, logger, metrics: metrics.handler }))
  app.use(unknownPath)
  app.use(errorHandler(logger))
  return app
}

/** These answer HEAD too, which is what some load balancers ask. */
function readOnly(paths: string[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const pass: RequestHandler = (_request, _response, next) => next()
  router.all(paths, methods({ GET: pass, HEAD: pass }))
  return router
}
