import { type RequestHandler, Router } from 'express'
import type { Logger } from '../log/logger.ts'
import { readOnly } from './conditional-get.ts'

/** Readiness checks by name. Each resolves if its dependency works, and rejects otherwise. */
export type Checks = Readonly<Record<string, () => Promise<void>>>

/**
 * Routes for operators. `/health` is 200 while the process runs. `/ready` is 200 while all checks pass, and 503 as soon as a
 * stop begins, so that a load balancer sends no more requests before the port closes. `/metrics` is the Prometheus text
 * format.
 *
 * @param options `stopping` aborts when the service is asked to stop; `methodNotAllowed` creates the error for methods other
 *   than GET and HEAD, which some load balancers use; `Allow` is set already
 */
export function healthRoutes(options: {
  checks: Checks
  stopping: AbortSignal
  logger: Logger
  metrics: RequestHandler
  methodNotAllowed: () => Error
}): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const path of ['/health', '/ready', '/metrics']) router.all(path, readOnly(options.methodNotAllowed))
  router.get('/health', (_request, response) => {
    response.json({ ok: true })
  })
  router.get('/ready', async (_request, response) => {
    const names = Object.keys(options.checks)
    const results = await Promise.allSettled(Object.values(options.checks).map((check) => check()))
    const checks = Object.fromEntries(
      names.map((name, i) => [name, results[i]?.status === 'fulfilled' ? 'ok' : 'failed']),
    )
    const ok = !options.stopping.aborted && results.every((result) => result.status === 'fulfilled')
    for (const result of results)
      if (result.status === 'rejected') options.logger.warn({ err: result.reason as unknown }, 'readiness check failed')
    response.status(ok ? 200 : 503).json({ ok, checks })
  })
  router.get('/metrics', options.metrics)
  return router
}
