import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'
import type { Guard } from '../limits/limits.middleware.ts'
import { requirePlainQuery } from '../requests/query.ts'
import { bearerToken, type TokenCheck } from './admin-token.ts'

/** Lets administrators with a well-formed query pass. A missing token and a wrong one get the same answer. */
export function requireAdmin(deps: { isToken: TokenCheck; guard: Guard }): RequestHandler {
  return async (request, response, next) => {
    await deps.guard(request, response, () => {
      const token = bearerToken(request.headers.authorization)
      if (token !== undefined && deps.isToken(token)) return Promise.resolve()
      response.setHeader('WWW-Authenticate', 'Bearer')
      return Promise.reject(apiError('unauthorized'))
    })
    requirePlainQuery(request.originalUrl)
    next()
  }
}
