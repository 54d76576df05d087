import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { requireAccess, visibleTo } from '../access/administrator.ts'
import { ENV, KEY_NAME, PROJECT_NAME, SECRET_KEY } from '../access/names.ts'
import { pageLimit, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { ACTIONS, type AuditLog } from './audit.ts'

const entry = z
  .strictObject({
    id: uuid,
    projectId: z.string().meta({ description: 'Empty for an entry that is not about a single project.' }),
    action: z.string(),
    env: z.string().nullable(),
    requestedAt: time,
    ip: z.string(),
    actor: z.string().nullable().optional().meta({
      description:
        'key:<fingerprint>, project:<name> for references, administrator, administrator:<id>, oidc:<subject>, command, or unknown for a refused requester.',
    }),
    keyName: z.string().optional().meta({ description: 'The name of the key at the time of the entry.' }),
    detail: z.record(z.string(), z.unknown()).nullable().optional(),
  })
  .meta({ id: 'AuditEntry' })

const endpoint = endpoints<{ audit: AuditLog }>()

/** The audit log. */
export const auditEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/audit',
    operationId: 'listAuditEntries',
    summary: 'List audit entries, newest first. Without an action, only fetches and rotations.',
    query: z.object({
      projectId: z.string().regex(PROJECT_NAME, 'must be the name of a project').optional(),
      action: z.enum([...ACTIONS, 'all'], `must be all, or one of ${ACTIONS.join(', ')}`).optional(),
      actor: z.string().min(1, 'must not be empty').max(300, 'must have at most 300 characters').optional(),
      keyName: z.string().regex(KEY_NAME, 'must be the name of a key').optional(),
      env: z.string().regex(ENV, 'must be the name of an environment').optional(),
      key: z.string().regex(SECRET_KEY, 'must be the key of a secret').optional(),
      since: z.iso.datetime('must be a time such as 2026-01-31T12:00:00Z').optional(),
      before: z.string().refine(isId, 'must be the id of an entry').optional(),
      limit: pageLimit,
    }),
    answer: z.array(entry),
    handle: async ({ query, caller }, { audit }) => {
      const { projectId, action, before, limit, since, actor, keyName, env, key } = query
      if (projectId !== undefined) requireAccess(caller, projectId)
      const filters = { actor, keyName, env, key, since: since === undefined ? undefined : new Date(since) }
      const entries = await audit.list({ ...visibleTo(caller, projectId), action, filters, before, limit })
      await audit.noteRead(caller, { what: 'audit', projectId })
      return entries.map(({ requestedAt, address, ...rest }) => ({
        ...rest,
        requestedAt: requestedAt.toISOString(),
        ip: address,
      }))
    },
  }),
]
