import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** A service's metrics. Labels are bounded: routes, methods, statuses, rule names; never a name, id or address. */
export type Metrics = {
  readonly registry: Registry
  /** Measures every request by its route pattern. */
  readonly middleware: RequestHandler
  /** Answers `/metrics` in the Prometheus text format. */
  readonly handler: RequestHandler
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A new registry with the process's own metrics and a histogram of requests. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  return {
    registry,
    middleware: (request, response, next) => {
      const started = process.hrtime.bigint()
      response.once('finish', () => {
        const route: unknown = (request.route as { path?: unknown } | undefined)?.path
        duration.observe(
          {
            method: METHODS.has(request.method) ? request.method : 'other',
            route: typeof route === 'string' ? request.baseUrl + route : 'unmatched',
            status: response.statusCode,
          },
          Number(process.hrtime.bigint() - started) / 1e9,
        )
      })
      next()
    },
    handler: async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics())
    },
  }
}
