import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { IdentifyAdministrator } from './admin.guard.ts'

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
