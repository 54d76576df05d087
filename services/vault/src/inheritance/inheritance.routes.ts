import { z } from 'zod'
import { ENV } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import { env, OK, ok, projectParams } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { Inheritances } from './inheritance.ts'

const environment = z
  .strictObject({
    env: z.string(),
    parent: z.string().nullable().meta({ description: 'The environment it inherits from; null for none.' }),
    secrets: z.int().meta({ description: 'The number of its own secrets.' }),
  })
  .meta({ id: 'Environment' })

const endpoint = endpoints<{ inheritance: Inheritances; audit: AuditLog }>()

/** The environments of a project, and which inherits from which. */
export const inheritanceEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/environments',
    operationId: 'listEnvironments',
    summary: 'List the environments of a project',
    params: projectParams,
    answer: z.array(environment),
    errors: ['not_found'],
    handle: async ({ params, caller }, { inheritance, audit }) => {
      const environments = await inheritance.listOf(params.id)
      await audit.noteRead(caller, { what: 'environments', projectId: params.id })
      return environments.map((each) => ({ ...each }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'PUT',
    path: '/v1/admin/projects/:id/environments/:env',
    operationId: 'setParent',
    summary: 'Set the environment from which an environment inherits',
    params: projectParams.extend({ env: z.string().regex(ENV) }),
    body: z.strictObject({
      parent: env.nullable().meta({ description: 'An environment of the same project; null for none.' }),
    }),
    answer: ok,
    errors: ['not_found', 'invalid_parent', 'unresolved_reference', 'decryption_failed'],
    handle: async ({ params, body, caller }, { inheritance }) => {
      await inheritance.setParent(params.id, { env: params.env, parent: body.parent }, caller)
      return OK
    },
  }),
]
