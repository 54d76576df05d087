import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of a service. Labels have few values: routes, methods, statuses; never names, ids or addresses. */
export type Metrics = {
  readonly registry: Registry
  /** Measures the duration of every request by its route pattern. */
  readonly middleware: RequestHandler
  /** Responds to `/metrics` in the Prometheus text format. */
  readonly handler: RequestHandler
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Creates a registry with the metrics of the process and a histogram of request durations. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests in seconds, from the request headers to the end of the response.',
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

/** Adds a gauge, whose value is read whenever the metrics are collected. */
export function observe(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    collect() {
      this.set(read())
    },
  })
}
