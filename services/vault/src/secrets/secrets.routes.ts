import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { apiError } from '../errors.ts'
import { inShape, jsonBody, methods, pathPart, sendJson } from '../http.ts'
import { readQuery, requirePlainQuery } from '../requests/query.ts'
import type { Signed } from '../signed-requests/signed-requests.middleware.ts'
import type { FetchAll } from './fetches.ts'
import { DEFAULT_ENV, ENV, MAX_VALUE_BYTES, SECRET_KEY, type Secrets } from './secrets.ts'

export const env = z
  .string()
  .regex(ENV, 'must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or digit')

/** The query of GET /v1/secrets. */
export const fetchQuery = z.object({ env: env.default(DEFAULT_ENV) })

/** The body of PUT /v1/secrets. */
export const putBody = z.strictObject({
  key: z.string().regex(SECRET_KEY, 'must be 1 to 256 characters without control characters'),
  value: z.string().refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, 'must have at most 64 KiB as UTF-8'),
  env,
})

/** What applications do with the secrets of their own project: signed requests. */
export function secretRoutes(deps: {
  secrets: Secrets
  fetchAll: FetchAll
  signed: Signed
  fetchLimit: RequestHandler
  /** Gets to know of requests for a fetch as long as they are checked. */
  onTheWay: Set<unknown>
}): Router {
  const { secrets, fetchAll, signed, fetchLimit, onTheWay } = deps
  const router = Router({ caseSensitive: true, strict: true })

  const get = signed({ isWrite: false }, async ({ caller, request }, response) => {
    const query = inShape(fetchQuery, readQuery(request.originalUrl, ['env']))
    onTheWay.delete(request)
    const fetched = await fetchAll(caller, query.env)
    return fetched === 'stale' ? 'stale' : () => sendJson(response, fetched.json)
  })

  const put = signed({ isWrite: true }, async ({ caller, body, request }, response) => {
    requirePlainQuery(request.originalUrl)
    const result = await secrets.put(caller, jsonBody(request, body, putBody))
    return result === 'stale' ? 'stale' : () => response.json({ ok: true })
  })

  const remove = signed({ isWrite: false }, async ({ caller, request }, response) => {
    requirePlainQuery(request.originalUrl)
    const result = await secrets.remove(caller, pathPart(request, 'id'))
    if (result === 'absent') throw apiError('not_found')
    return result === 'stale' ? 'stale' : () => response.json({ ok: true })
  })

  router.all(
    '/v1/secrets',
    methods({
      GET: (request, response, next) => {
        onTheWay.add(request)
        response.once('close', () => onTheWay.delete(request))
        return fetchLimit(request, response, (error?: unknown) => {
          if (error === undefined) Promise.resolve(get(request, response, next)).catch(next)
          else next(error)
        })
      },
      PUT: put,
    }),
  )
  router.all('/v1/secrets/:id', methods({ DELETE: remove }))
  return router
}
