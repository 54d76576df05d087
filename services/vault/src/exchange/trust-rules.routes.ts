import { z } from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { keyName, OK, ok, presentScope, projectParams, scope, scopeAnswer, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { ALGORITHMS, MAX_MINUTES, type TrustRule, type TrustRules } from './trust-rules.ts'

const text = (name: string, max: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[^\\p{Cc}\\p{Surrogate}]{1,${max}}$`, 'u'),
      `${name} 1 to ${max} characters without control characters`,
    )

const claims = z
  .record(text('must have names of', 200), text('must have patterns of', 500))
  .refine((patterns) => Object.keys(patterns).length <= 16, 'must have at most 16 members')
  .meta({
    description:
      'Patterns by the name of a claim, in which * stands for any characters. A name that starts with a slash is a JSON Pointer to a nested claim.',
  })

const trustRule = z
  .strictObject({
    id: uuid,
    name: z.string(),
    issuer: z.string(),
    audience: z.string(),
    algorithms: z.array(z.string()),
    claims: z.record(z.string(), z.string()),
    scope: scopeAnswer,
    minutes: z.int(),
    createdAt: time,
  })
  .meta({
    id: 'TrustRule',
    description: 'ID tokens of this issuer with these claims can be exchanged for short-lived keys.',
  })

function present({ id, name, issuer, audience, algorithms, claims, scope, minutes, createdAt }: TrustRule) {
  return {
    ...{ id, name, issuer, audience, algorithms: [...algorithms], claims: { ...claims }, minutes },
    scope: presentScope(scope),
    createdAt: createdAt.toISOString(),
  }
}

const endpoint = endpoints<{ trustRules: TrustRules; audit: AuditLog }>()

/** The trust rules of a project. */
export const trustRuleEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/trust-rules',
    operationId: 'listTrustRules',
    summary: 'List the trust rules of a project',
    params: projectParams,
    answer: z.array(trustRule),
    errors: ['not_found'],
    handle: async ({ params, caller }, { trustRules, audit }) => {
      const rules = await trustRules.listOf(params.id)
      await audit.noteRead(caller, { what: 'trust-rules', projectId: params.id })
      return rules.map(present)
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/trust-rules',
    operationId: 'addTrustRule',
    summary: 'Add a trust rule for ID tokens with certain claims',
    params: projectParams,
    body: z.strictObject({
      name: keyName.meta({ description: 'The name of its keys.' }),
      issuer: z
        .string()
        .max(300)
        .meta({ format: 'uri', description: 'Exactly the `iss` of the tokens; https:// only.' }),
      audience: text('must be', 300).meta({
        description: 'The `aud` of the tokens; preferably the URL of this vault.',
      }),
      algorithms: z.array(z.enum(ALGORITHMS)).min(1).max(ALGORITHMS.length).default(['RS256', 'ES256']),
      claims,
      scope: scope
        .default({ access: 'read', envs: null })
        .meta({ description: 'Access of the keys; reading by default.' }),
      minutes: z.int().min(1).max(MAX_MINUTES).default(15).meta({ description: 'How long a key is valid.' }),
    }),
    status: 201,
    answer: ok.extend({ id: uuid }),
    errors: ['not_found', 'trust_rule_exists', 'too_many_trust_rules'],
    handle: async ({ params, body, caller }, { trustRules }) => ({
      ...OK,
      id: await trustRules.add({ ...body, project: params.id, by: caller }),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/projects/:id/trust-rules/:ruleId',
    operationId: 'removeTrustRule',
    summary: 'Remove a trust rule and end its keys immediately',
    params: projectParams.extend({ ruleId: uuid }),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { trustRules }) => {
      await trustRules.remove(params.id, params.ruleId, caller)
      return OK
    },
  }),
]
