import { type Request, Router } from 'express'
import { z } from 'zod'
import { apiError } from '../errors.ts'
import { inShape, methods, pathPart } from '../http.ts'
import { readQuery } from '../requests/query.ts'
import { env } from './secrets.routes.ts'
import type { Secrets } from './secrets.ts'

/** The query of GET /v1/admin/projects/:id/secrets. */
export const listQuery = z.object({ env: env.optional() })

/** What administrators do with secrets: list, delete, restore; never read. The token is checked before. */
export function secretAdminRoutes(deps: { secrets: Secrets; addressOf: (request: Request) => string }): Router {
  const { secrets, addressOf } = deps
  const router = Router({ caseSensitive: true, strict: true })

  router.all(
    '/v1/admin/projects/:id/secrets',
    methods({
      GET: async (request, response) => {
        const query = inShape(listQuery, readQuery(request.originalUrl, ['env']))
        response.json(await secrets.listOf(pathPart(request, 'id'), query.env))
      },
    }),
  )

  router.all(
    '/v1/admin/secrets/:id',
    methods({
      DELETE: async (request, response) => {
        await secrets.removeAny(pathPart(request, 'id'), addressOf(request))
        response.json({ ok: true })
      },
    }),
  )

  router.all(
    '/v1/admin/secrets/:id/versions',
    methods({
      GET: async (request, response) => {
        response.json(await secrets.versionsOf(pathPart(request, 'id')))
      },
    }),
  )

  router.all(
    '/v1/admin/secrets/:id/versions/:version/restore',
    methods({
      POST: async (request, response) => {
        const version = pathPart(request, 'version')
        if (!/^[1-9][0-9]{0,9}$/.test(version)) throw apiError('not_found')
        const restored = await secrets.restore(pathPart(request, 'id'), Number(version), addressOf(request))
        response.json({ ok: true, version: restored })
      },
    }),
  )
  return router
}
