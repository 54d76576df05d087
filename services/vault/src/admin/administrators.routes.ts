import { z } from 'zod'
import { ROLES } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import { EXPIRY, expiry, idParams, OK, ok, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { Administrators } from './administrators.ts'

const name = z
  .string()
  .regex(/^[^\p{Cc}\p{Surrogate}]{1,100}$/u, 'must be 1 to 100 characters without control characters')

const projects = z.array(z.string().regex(PROJECT_NAME, 'must be names of projects')).min(1).max(100)

const administrator = z
  .strictObject({
    id: uuid,
    name: z.string(),
    role: z.enum(ROLES),
    projects: z.array(z.string()).nullable().meta({ description: 'null for all projects.' }),
    createdAt: time,
    expiresAt: time.nullable(),
  })
  .meta({
    id: 'Administrator',
    description:
      'A named administrator. Auditors can only read the metadata; editors can also change secrets; neither ever receives a value.',
  })

const endpoint = endpoints<{ administrators: Administrators; audit: AuditLog }>()

/** Named administrators, managed by the holder of ADMIN_TOKEN. */
export const administratorEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/administrators',
    operationId: 'listAdministrators',
    summary: 'List named administrators, without their tokens',
    answer: z.array(administrator),
    handle: async ({ caller }, { administrators, audit }) => {
      const listed = await administrators.list()
      await audit.noteRead(caller, { what: 'administrators' })
      return listed.map((each) => ({
        id: each.id,
        name: each.name,
        role: each.role,
        projects: each.projects === null ? null : [...each.projects],
        createdAt: each.createdAt.toISOString(),
        expiresAt: each.expiresAt?.toISOString() ?? null,
      }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/administrators',
    operationId: 'addAdministrator',
    summary: 'Add an administrator. The token is returned once and not stored.',
    body: z.strictObject({
      name,
      role: z.enum(ROLES),
      projects: projects.nullable().default(null),
      expiresAt: expiry.default(null).meta(EXPIRY),
    }),
    answer: ok.extend({ id: uuid, token: z.string() }),
    handle: async ({ body, caller }, { administrators }) => ({
      ...OK,
      ...(await administrators.add({ ...body, by: caller })),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/administrators/:id',
    operationId: 'removeAdministrator',
    summary: 'Revoke the token of an administrator immediately',
    params: idParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { administrators }) => {
      await administrators.remove(params.id, caller)
      return OK
    },
  }),
]
