import { type RequestHandler, Router } from 'express'
import type { Logger } from './logger.ts'

/** A check resolves when its part is fine and rejects when it is not. */
export type Checks = Readonly<Record<string, () => Promise<void>>>

/**
 * `/health` tells that the process runs, without touching anything else; `/ready` that it can do its work now, and is
 * 503 from the first moment of a stop, so that a load balancer turns away before the port closes.
 *
 * @param options `checks` by name; `stopping` aborts when the service was asked to stop
 */
export function healthRoutes(options: {
  checks: Checks
  stopping: AbortSignal
  logger: Logger
  metrics: RequestHandler
}): Router {
  const router = Router({ caseSensitive: true, strict: true })
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
      if (result.status === 'rejected') options.logger.warn({ err: result.reason as unknown }, 'not ready')
    response.status(ok ? 200 : 503).json({ ok, checks })
  })
  router.get('/metrics', options.metrics)
  return router
}
