import { z } from 'zod'
import { isTimeRange, namedUser, noTimeRange, pageOf, pageQuery, text, time, timeRange } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { ADMIN_ACTIONS, type AdminLog, TARGET_TYPES } from './admin-log.ts'

const fields = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable()

const entry = z
  .object({
    id: z.string(),
    at: time,
    actor: namedUser,
    action: z.enum(ADMIN_ACTIONS),
    target: z.object({ type: z.enum(TARGET_TYPES), id: z.string().nullable(), name: z.string().nullable() }),
    before: fields.meta({ description: 'old values of the changed fields; null if the target did not exist' }),
    after: fields.meta({ description: 'new values of the same fields; null if the target was deleted' }),
  })
  .meta({ id: 'AdminLogEntry' })

const endpoint = endpoints<{ adminLog: AdminLog }>()

/** Actions of administrators and moderators. */
export const adminLogEndpoints = [
  endpoint({
    tag: 'admin log',
    access: 'admin',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/log',
    operationId: 'listAdminLog',
    summary:
      'List actions of administrators and moderators, newest first; `actor` is an id or username, `target` an id',
    query: pageQuery
      .safeExtend({
        actor: text({ min: 1, max: 64 }).optional(),
        action: z.enum(ADMIN_ACTIONS, `must be one of ${ADMIN_ACTIONS.join(', ')}`).optional(),
        target: text({ min: 1, max: 64 }).optional(),
        ...timeRange,
      })
      .refine(isTimeRange, noTimeRange),
    answer: pageOf(entry),
    handle: ({ query }, { adminLog }) => adminLog.list(query),
  }),
]
