import type { RequestListener } from 'node:http'
import express, { type Express } from 'express'
import { healthRoutes } from 'service-kit/health'
import type { Context } from './context.ts'

/** The REST surface: middleware in order, then the routes, then the answers to what matched nothing or failed. */
function createRest(context: Context, stopping: AbortSignal): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use(context.metrics.middleware)
  app.use(healthRoutes({ checks: context.checks, stopping, logger: context.logger, metrics: context.metrics.handler }))
  return app
}

/**
 * Answers every HTTP request of the service.
 *
 * @param stopping aborts when the service was asked to stop; `/ready` is 503 from then on
 */
export function createRequestListener(context: Context, stopping: AbortSignal): RequestListener {
  const rest = createRest(context, stopping)
  return (request, response) => {
    // ANNOUNCE: announces and scrapes are answered here, before Express is entered.
    rest(request, response)
  }
}
