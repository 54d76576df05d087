import { EXPORT_FORMATS, EXPORT_TYPES, exportFile } from '@vault-and-tracker/rest'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { type Administrator, requireAccess, visibleTo } from '../access/administrator.ts'
import { ENV, KEY_NAME, PROJECT_NAME, SECRET_KEY } from '../access/names.ts'
import { pageLimit, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { ACTION_GROUPS, ACTIONS, type AuditLog } from './audit.ts'

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

const givenTime = z.iso.datetime('must be a time such as 2026-01-31T12:00:00Z').transform((text) => new Date(text))

const filters = {
  projectId: z.string().regex(PROJECT_NAME, 'must be the name of a project').optional(),
  action: z
    .enum([...ACTIONS, ...ACTION_GROUPS], `must be ${ACTION_GROUPS.join(', ')}, or one of ${ACTIONS.join(', ')}`)
    .optional(),
  actor: z.string().min(1, 'must not be empty').max(300, 'must have at most 300 characters').optional(),
  keyName: z.string().regex(KEY_NAME, 'must be the name of a key').optional(),
  env: z.string().regex(ENV, 'must be the name of an environment').optional(),
  key: z.string().regex(SECRET_KEY, 'must be the key of a secret').optional(),
  since: givenTime.optional(),
  until: givenTime.optional().meta({ description: 'Exclusive.' }),
}

const COLUMNS = ['requestedAt', 'action', 'projectId', 'env', 'actor', 'keyName', 'ip', 'detail', 'id'] as const

type Filters = z.output<z.ZodObject<typeof filters>>

/** Lists entries that the caller may see, and records that it reads them, once for all pages. */
async function listed(
  { projectId, action, ...filters }: Filters,
  page: { before: string | undefined; limit: number; isFurther?: boolean },
  caller: Administrator,
  { audit }: { audit: AuditLog },
) {
  const { isFurther = false, ...range } = page
  if (projectId !== undefined) requireAccess(caller, projectId)
  const entries = await audit.list({ ...visibleTo(caller, projectId), action, filters, ...range })
  if (!isFurther) await audit.noteRead(caller, { what: 'audit', projectId })
  return entries.map(({ requestedAt, address, ...rest }) => ({
    ...rest,
    requestedAt: requestedAt.toISOString(),
    ip: address,
  }))
}

type ExportedEntry = Awaited<ReturnType<typeof listed>>[number]

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
      ...filters,
      before: z.string().refine(isId, 'must be the id of an entry').optional(),
      limit: pageLimit,
    }),
    answer: z.array(entry),
    handle: async ({ query: { before, limit, ...query }, caller }, deps) =>
      await listed(query, { before, limit }, caller, deps),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/audit/export',
    operationId: 'exportAuditEntries',
    summary: 'Download the newest 10,000 matching audit entries as a file',
    query: z.object({
      ...filters,
      format: z.enum(EXPORT_FORMATS, `must be one of ${EXPORT_FORMATS.join(', ')}`),
    }),
    answerTypes: EXPORT_TYPES,
    handle: ({ query: { format, ...query }, caller }, deps) =>
      exportFile({ name: 'audit', format, columns: COLUMNS }, (after: ExportedEntry | undefined, limit) =>
        listed(query, { before: after?.id, limit, isFurther: after !== undefined }, caller, deps),
      ),
  }),
]
