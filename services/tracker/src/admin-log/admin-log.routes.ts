import { EXPORT_FORMATS, EXPORT_TYPES, exportFile } from '@vault-and-tracker/rest'
import { z } from 'zod'
import { isTimeRange, namedUser, noTimeRange, pageOf, pageQuery, text, time, timeRange } from '../http/fields.ts'
import { endpoints } from '../surface.ts'
import { ADMIN_ACTIONS, type AdminLog, type AdminLogEntry, TARGET_TYPES } from './admin-log.ts'

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

const filters = {
  actor: text({ min: 1, max: 64 }).optional(),
  action: z.enum(ADMIN_ACTIONS, `must be one of ${ADMIN_ACTIONS.join(', ')}`).optional(),
  target: text({ min: 1, max: 64 }).optional(),
  ...timeRange,
}

const COLUMNS = [
  'at',
  'actor',
  'action',
  'targetType',
  'target',
  'before',
  'after',
  'actorId',
  'targetId',
  'id',
] as const

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
    query: pageQuery.safeExtend(filters).refine(isTimeRange, noTimeRange),
    answer: pageOf(entry),
    handle: ({ query }, { adminLog }) => adminLog.list(query),
  }),
  endpoint({
    tag: 'admin log',
    access: 'admin',
    limit: 'read',
    method: 'GET',
    path: '/api/admin/log/export',
    operationId: 'exportAdminLog',
    summary: 'Download the newest 10,000 matching actions as a file',
    query: z
      .object({ ...filters, format: z.enum(EXPORT_FORMATS, `must be one of ${EXPORT_FORMATS.join(', ')}`) })
      .refine(isTimeRange, noTimeRange),
    answerTypes: EXPORT_TYPES,
    handle: ({ query: { format, ...query } }, { adminLog }) =>
      exportFile({ name: 'admin-log', format, columns: COLUMNS }, async (after: ExportedEntry | undefined, limit) =>
        (await adminLog.newest(query, limit, after?.id)).map(exported),
      ),
  }),
]

type ExportedEntry = ReturnType<typeof exported>

function exported({ actor, target, ...rest }: AdminLogEntry) {
  return {
    ...rest,
    actorId: actor.id,
    actor: actor.username,
    targetType: target.type,
    targetId: target.id,
    target: target.name,
  }
}
