import { isId } from '@vault-and-tracker/service-kit/ids'
import { Router } from 'express'
import { z } from 'zod'
import { inShape, methods } from '../http.ts'
import { PROJECT_NAME } from '../projects/projects.ts'
import { readQuery } from '../requests/query.ts'
import { ACTIONS, type AuditStore, LISTED_ACTIONS } from './audit.ts'

const limit = 'must be a whole number from 1 to 1000'

/** The query of GET /v1/admin/audit. */
export const auditQuery = z.object({
  projectId: z.string().regex(PROJECT_NAME, 'must be the name of a project').optional(),
  action: z.enum(ACTIONS, `must be one of ${ACTIONS.join(', ')}`).optional(),
  before: z.string().refine(isId, 'must be the id of an entry').optional(),
  limit: z
    .string()
    .regex(/^[0-9]{1,4}$/, limit)
    .transform(Number)
    .refine((n) => n >= 1 && n <= 1000, limit)
    .default(100),
})

/** The log, newest first. The token is checked before. */
export function auditRoutes(deps: { store: Pick<AuditStore, 'list'> }): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.all(
    '/v1/admin/audit',
    methods({
      GET: async (request, response) => {
        const names = ['projectId', 'action', 'before', 'limit'] as const
        const query = inShape(auditQuery, readQuery(request.originalUrl, names))
        const { projectId, before } = query
        const actions = query.action === undefined ? LISTED_ACTIONS : [query.action]
        response.json(await deps.store.list({ projectId, actions, before, limit: query.limit }))
      },
    }),
  )
  return router
}
