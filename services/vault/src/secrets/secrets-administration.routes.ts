import { JsonText } from '@vault-and-tracker/rest'
import { z } from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { env, idParams, OK, ok, projectParams, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { Copies } from './copies.ts'
import { CHARSET_NAMES, GENERATED_LENGTH, isCharset } from './generated.ts'
import { detailFields, references, secretKey, value } from './secrets.routes.ts'
import type { Secrets } from './secrets.ts'

const secret = z
  .strictObject({
    ...{ id: uuid, key: z.string(), env: z.string(), updatedAt: time },
    ...{
      references: z.literal(true).optional(),
      note: z.string().optional(),
      owner: z.string().optional(),
      expiresAt: time.optional(),
    },
  })
  .meta({ id: 'SecretMetadata', description: 'A secret without its value.' })

const version = z
  .strictObject({
    version: z.int(),
    createdAt: time,
    current: z.boolean(),
    actor: z.string().nullable().meta({ description: 'As in the audit log; null if it was not recorded.' }),
    keyName: z.string().optional().meta({ description: 'The name of the key at that time.' }),
  })
  .meta({ id: 'SecretVersion', description: 'A version of a secret without its value.' })

const versionNumber = z.string().regex(/^[1-9][0-9]{0,9}$/)

const generation = z.strictObject({
  length: z
    .int()
    .min(GENERATED_LENGTH.min)
    .max(GENERATED_LENGTH.max)
    .default(GENERATED_LENGTH.default)
    .meta({ description: 'The number of characters.' }),
  charset: z
    .string()
    .refine(isCharset, `must be ${CHARSET_NAMES.join(', ')}, or 2 to 256 different characters`)
    .default('alphanumeric')
    .meta({ description: `${CHARSET_NAMES.join(', ')}, or the characters themselves, each once.` }),
})

const endpoint = endpoints<{ secrets: Secrets; copies: Copies; audit: AuditLog }>()

/** Secrets as administrators use them; they never see values. */
export const secretAdminEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/secrets',
    operationId: 'listSecrets',
    summary: 'List the secrets of a project, without their values',
    params: projectParams,
    query: z.object({ env: env.optional() }),
    answer: z.array(secret),
    errors: ['not_found'],
    handle: async ({ params, query, caller }, { secrets, audit }) => {
      const pieces: Buffer[] = []
      for await (const page of secrets.listOf(params.id, query.env))
        if (page.length > 0)
          pieces.push(Buffer.from((pieces.length === 0 ? '[' : ',') + JSON.stringify(page).slice(1, -1)))
      await audit.noteRead(caller, { what: 'secrets', projectId: params.id, env: query.env })
      return new JsonText(Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '[]' : ']')]))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'PUT',
    path: '/v1/admin/projects/:id/secrets',
    operationId: 'putSecretOfProject',
    summary: 'Create a secret of a project or overwrite its value, with a given or a generated value',
    params: projectParams,
    body: z
      .strictObject({
        key: secretKey,
        env,
        value: value.optional(),
        references,
        generate: generation.optional().meta({ description: 'Instead of a value. It is never shown.' }),
        ...detailFields,
      })
      .transform(({ value, generate, ...secret }, context) => {
        const given = value ?? generate
        if (value === undefined && secret.references) context.addIssue('must have a value with references')
        if (given !== undefined && (value === undefined || generate === undefined)) return { ...secret, value: given }
        context.addIssue('must have either value or generate')
        return z.NEVER
      }),
    answer: ok.extend({ version: z.int() }),
    errors: ['not_found', 'decryption_failed', 'unresolved_reference'],
    handle: async ({ params, body: { key, env, value, references, ...details }, caller }, { secrets }) => ({
      ...OK,
      version: await secrets.putAny(params.id, { key, env, value, references, details }, caller),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/secrets/copy',
    operationId: 'copySecrets',
    summary: 'Copy the secrets of an environment to another one, all or none',
    params: projectParams,
    body: z.strictObject({
      from: env,
      to: env,
      keys: z.array(secretKey).min(1).max(10_000).optional().meta({ description: 'All secrets by default.' }),
      overwrite: z.boolean().default(false).meta({ description: 'Whether to overwrite secrets that exist in both.' }),
    }),
    answer: ok.extend({
      copied: z.int(),
      skipped: z.int().meta({ description: 'Secrets that exist in both environments and were not overwritten.' }),
    }),
    errors: ['not_found', 'decryption_failed', 'unresolved_reference'],
    handle: async ({ params, body: { keys, ...body }, caller }, { copies }) => ({
      ...OK,
      ...(await copies.copy(params.id, { keys, ...body }, caller)),
    }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'PATCH',
    path: '/v1/admin/secrets/:id',
    operationId: 'annotateSecret',
    summary: 'Change the note, the owner and the expiry of a secret',
    params: idParams,
    body: z
      .strictObject(detailFields)
      .refine((body) => Object.keys(body).length > 0, 'must have note, owner or expiresAt'),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, body, caller }, { secrets }) => {
      await secrets.annotate(params.id, body, caller)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/secrets/:id',
    operationId: 'deleteSecret',
    summary: 'Permanently delete a secret and all its versions',
    params: idParams,
    answer: ok,
    errors: ['not_found', 'decryption_failed', 'unresolved_reference'],
    handle: async ({ params, caller }, { secrets }) => {
      await secrets.removeAny(params.id, caller)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/secrets/:id/versions',
    operationId: 'listSecretVersions',
    summary: 'List the versions of a secret, newest first, without their values',
    params: idParams,
    answer: z.array(version),
    errors: ['not_found'],
    handle: async ({ params, caller }, { secrets, audit }) => {
      const { project, env, versions } = await secrets.versionsOf(params.id, caller.projects)
      await audit.noteRead(caller, { what: 'versions', projectId: project, env })
      return versions.map((each) => ({ ...each, createdAt: each.createdAt.toISOString() }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/secrets/:id/versions/:version/restore',
    operationId: 'restoreSecretVersion',
    summary: 'Restore the value of an older version as a new version',
    params: idParams.extend({ version: versionNumber }),
    answer: ok.extend({ version: z.int() }),
    errors: ['not_found', 'decryption_failed', 'unresolved_reference', 'payload_too_large'],
    handle: async ({ params, caller }, { secrets }) => ({
      ...OK,
      version: await secrets.restore(params.id, Number(params.version), caller),
    }),
  }),
]
