import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { apiError } from '../errors.ts'
import type { LimitFailures } from '../http/failure-limit.middleware.ts'
import type { Administrator } from '../http/surface.ts'
import { bearerToken, type TokenCheck } from './admin-token.ts'

/** Finds out which administrator makes a request. A missing token and a wrong one get the same answer. */
export type IdentifyAdministrator = (request: Request, response: Response) => Promise<Administrator>

/** Lets requests with the admin token in. */
export function createIdentifyAdministrator(deps: {
  isToken: TokenCheck
  limitFailures: LimitFailures
  addressOf: (request: Request) => string
}): IdentifyAdministrator {
  const { isToken, limitFailures, addressOf } = deps
  return async (request, response) => {
    await limitFailures(request, response, () => {
      const token = bearerToken(request.headers.authorization)
      if (token !== undefined && isToken(token)) return Promise.resolve()
      response.setHeader('WWW-Authenticate', 'Bearer')
      return Promise.reject(apiError('unauthorized'))
    })
    return { ip: addressOf(request) }
  }
}

/** Below the administrators' prefix, a path that names nothing is 404 for administrators and 401 for everybody else. */
export function administratorsOnly(identify: IdentifyAdministrator): RequestHandler {
  return async (request, response, next) => {
    await identify(request, response)
    next()
  }
}

/** Likewise for paths that cannot be decoded, which Express reports as an error. */
export function administratorsOnlyOnError(identify: IdentifyAdministrator): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    const isMalformedPath = error instanceof Error && error.name === 'URIError'
    if (isMalformedPath) await identify(request, response)
    next(error)
  }
}
