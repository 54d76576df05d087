import { type Around, runMiddleware } from '@vault-and-tracker/rest'
import type { TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { addressKey, clientAddress } from '@vault-and-tracker/service-kit/client-address'
import type { Request, RequestHandler } from 'express'
import type { FailureLimit } from './failure-limit.ts'

/**
 * Runs work under a limit on failures per address: refuses an address that is blocked, and counts work that fails.
 *
 * @param deps `countShared` is a limit of express-rate-limit in Redis, applied to failures only. It must fail while
 *   Redis is unavailable: a failure that cannot be counted is answered 503, without telling what was wrong
 */
export function createFailureGuard(deps: {
  limit: FailureLimit
  countShared: RequestHandler
  proxies: TrustedProxies
  isFailure: (error: unknown, request: Request) => boolean
}): Around {
  const { limit, countShared, proxies, isFailure } = deps
  return async (request, response, work) => {
    const address = addressKey(clientAddress(request, proxies))
    try {
      limit.assertAllowed(address)
      return await work()
    } catch (error) {
      if (isFailure(error, request)) await limit.count(address, () => runMiddleware(countShared, request, response))
      throw error
    } finally {
      const seconds = limit.retryAfter(address)
      if (seconds > 0 && !response.headersSent) response.setHeader('Retry-After', String(seconds))
    }
  }
}
