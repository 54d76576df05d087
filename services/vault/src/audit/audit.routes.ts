import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { requireProject, visibleTo } from '../admin/permissions.ts'
import { time, uuid } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import { PROJECT_NAME } from '../projects/projects.ts'
import { ENV, SECRET_KEY } from '../secrets/secrets.ts'
import { ACTIONS } from './audit.ts'
import type { AuditLog } from './audit-log.ts'

const limit = 'must be a whole number from 1 to 1000'

const entry = z
  .strictObject({
    id: uuid,
    projectId: z.string().meta({ description: 'empty for an entry about no single project' }),
    action: z.string(),
    env: z.string().nullable(),
    requestedAt: time,
    ip: z.string(),
    actor: z.string().nullable().optional().meta({
      description: 'key:<fingerprint>, administrator, administrator:<id>, command, or unknown for who was refused',
    }),
    detail: z.record(z.string(), z.unknown()).nullable().optional(),
  })
  .meta({ id: 'AuditEntry' })

const endpoint = endpoints<{ audit: AuditLog }>()
const admin = { tag: 'administration', access: 'admin', limit: 'none' } as const

/** The audit log, newest first. */
export const auditEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/audit',
    operationId: 'listAuditEntries',
    summary: 'The audit log, newest first: fetches and rotations, or one other action, or all',
    query: z.object({
      projectId: z.string().regex(PROJECT_NAME, 'must be the name of a project').optional(),
      action: z.enum([...ACTIONS, 'all'], `must be all, or one of ${ACTIONS.join(', ')}`).optional(),
      actor: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters').optional(),
      env: z.string().regex(ENV, 'must be the name of an environment').optional(),
      key: z.string().regex(SECRET_KEY, 'must be the key of a secret').optional(),
      since: z.iso.datetime('must be a time such as 2026-01-31T12:00:00Z').optional(),
      before: z.string().refine(isId, 'must be the id of an entry').optional(),
      limit: z
        .string()
        .regex(/^[0-9]{1,4}$/, limit)
        .transform(Number)
        .refine((n) => n >= 1 && n <= 1000, limit)
        .default(100)
        .meta({ type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
    }),
    answer: z.array(entry),
    handle: async ({ query, caller }, { audit }) => {
      const { projectId, action, before, limit, since, actor, env, key } = query
      if (projectId !== undefined) requireProject(caller, projectId)
      const filters = { actor, env, key, since: since === undefined ? undefined : new Date(since) }
      const entries = await audit.list({ ...visibleTo(caller, projectId), action, filters, before, limit })
      await audit.noteRead(caller, { what: 'audit', ...(projectId !== undefined && { projectId }) })
      return entries.map(({ requestedAt, address, ...rest }) => ({
        ...rest,
        requestedAt: requestedAt.toISOString(),
        ip: address,
      }))
    },
  }),
]
