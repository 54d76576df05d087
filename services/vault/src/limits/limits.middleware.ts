import type { TrustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { addressKey, clientAddress } from '@vault-and-tracker/service-kit/client-address'
import { isError } from '@vault-and-tracker/service-kit/errors'
import type { Request, RequestHandler, Response } from 'express'
import type { FailureCeiling } from './failure-ceiling.ts'

/** Runs an authentication step under a ceiling of failures per address. */
export type Guard = <T>(request: Request, response: Response, step: () => Promise<T>) => Promise<T>

/**
 * Refuses an address that is shut out, and counts what fails with one of the given codes.
 *
 * @param deps `countShared` is a limit of express-rate-limit in Redis, applied to failures only. It must fail while
 *   Redis is away: a failure that cannot be counted is answered 503, not with a hint at what was wrong
 */
export function createGuard(deps: {
  ceiling: FailureCeiling
  countShared: RequestHandler
  proxies: TrustedProxies
  isFailure: (error: unknown, request: Request) => boolean
}): Guard {
  const { ceiling, countShared, proxies, isFailure } = deps
  return async (request, response, step) => {
    const address = addressKey(clientAddress(request, proxies))
    try {
      ceiling.assertOpen(address)
      return await step()
    } catch (error) {
      if (isFailure(error, request)) await ceiling.count(address, () => promised(countShared, request, response))
      throw error
    } finally {
      const seconds = ceiling.retryAfter(address)
      if (seconds > 0 && !response.headersSent) response.setHeader('Retry-After', String(seconds))
    }
  }
}

function promised(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void handler(request, response, (error?: unknown) => {
      if (error === undefined) resolve()
      else reject(isError(error) ? error : new Error('the limit failed'))
    })
  })
}
