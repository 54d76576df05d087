import { z } from 'zod'
import { ENV, PROJECT_NAME, SECRET_KEY } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import { OK, ok, projectParams, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { ReferenceRule, ReferenceRules } from './reference-rules.ts'

const names = (of: string, pattern: RegExp) =>
  z
    .array(z.string().regex(pattern, `must be names of ${of}`))
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .meta({ description: 'null for all.' })

const referenceRule = z
  .strictObject({
    id: uuid,
    project: z.string().meta({ description: 'The project that may refer to secrets of this one.' }),
    readerEnvs: z.array(z.string()).nullable(),
    envs: z.array(z.string()).nullable(),
    keys: z.array(z.string()).nullable(),
    createdAt: time,
  })
  .meta({ id: 'ReferenceRule', description: 'Values of the other project may contain these secrets of this one.' })

const listOf = (list: readonly string[] | null) => list && [...list]

function present({ id, reader, readerEnvs, envs, keys, createdAt }: ReferenceRule) {
  return {
    ...{ id, project: reader, readerEnvs: listOf(readerEnvs), envs: listOf(envs), keys: listOf(keys) },
    createdAt: createdAt.toISOString(),
  }
}

const endpoint = endpoints<{ referenceRules: ReferenceRules; audit: AuditLog }>()

/** The reference rules of a project. */
export const referenceRuleEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/reference-rules',
    operationId: 'listReferenceRules',
    summary: 'List which other projects may refer to secrets of a project',
    params: projectParams,
    answer: z.array(referenceRule),
    errors: ['not_found'],
    handle: async ({ params, caller }, { referenceRules, audit }) => {
      const rules = await referenceRules.listOf(params.id)
      await audit.noteRead(caller, { what: 'reference-rules', projectId: params.id })
      return rules.map(present)
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/reference-rules',
    operationId: 'addReferenceRule',
    summary: 'Allow another project to refer to secrets of a project',
    params: projectParams,
    body: z.strictObject({
      project: z
        .string()
        .regex(PROJECT_NAME, 'must be the name of a project')
        .meta({ description: 'The project that may refer to secrets of this one.' }),
      readerEnvs: names('environments', ENV),
      envs: names('environments', ENV),
      keys: names('secrets', SECRET_KEY),
    }),
    status: 201,
    answer: ok.extend({ id: uuid }),
    errors: ['not_found', 'too_many_reference_rules'],
    handle: async ({ params, body: { project: reader, ...grant }, caller }, { referenceRules }) => ({
      ...OK,
      id: await referenceRules.add({ project: params.id, reader }, grant, caller),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/projects/:id/reference-rules/:ruleId',
    operationId: 'removeReferenceRule',
    summary: 'Remove a reference rule. Values that need it can no longer be fetched.',
    params: projectParams.extend({ ruleId: uuid }),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { referenceRules }) => {
      await referenceRules.remove(params.id, params.ruleId, caller)
      return OK
    },
  }),
]
