import { type RequestHandler, Router } from 'express'
import { apiError } from '../errors.ts'

/** Headers of every answer: no cache keeps anything of the vault, and no browser guesses a type. */
export const standardHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  next()
}

/** Answers a path that names nothing. */
export const unknownPath: RequestHandler = () => {
  throw apiError('not_found')
}

/** Refuses other methods than GET and HEAD on these paths; some load balancers ask with HEAD. */
export function readOnly(paths: readonly string[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.all([...paths], (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      next()
      return
    }
    response.setHeader('Allow', 'GET, HEAD')
    throw apiError('method_not_allowed')
  })
  return router
}
