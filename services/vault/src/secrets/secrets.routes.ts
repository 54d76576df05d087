import { JsonText } from '@vault-and-tracker/rest'
import { z } from 'zod'
import type { AuditLog } from '../audit/audit-log.ts'
import { idParams, OK, ok, projectParams, time, uuid } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import type { ProjectSecrets } from './project-secrets.ts'
import { DEFAULT_ENV, ENV, MAX_VALUE_BYTES, SECRET_KEY, type Secrets } from './secrets.ts'

const env = z
  .string()
  .regex(ENV, 'must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or digit')

const secretKey = z.string().regex(SECRET_KEY, 'must be 1 to 256 characters without control characters')

const secret = z
  .strictObject({ id: uuid, key: z.string(), env: z.string(), updatedAt: time })
  .meta({ id: 'SecretMetadata', description: 'A secret without its value' })

const version = z
  .strictObject({ version: z.int(), createdAt: time, current: z.boolean() })
  .meta({ id: 'SecretVersion', description: 'A version of a secret without its value' })

const versionNumber = z.string().regex(/^[1-9][0-9]{0,9}$/)

const ownEndpoint = endpoints<{ projectSecrets: ProjectSecrets }>()
const signed = { tag: 'secrets', access: 'signature' } as const
const endpoint = endpoints<{ secrets: Secrets; audit: AuditLog }>()
const admin = { tag: 'administration', access: 'admin', limit: 'none' } as const

/** What applications do with the secrets of their own project, by signed requests. */
export const secretEndpoints = [
  ownEndpoint({
    ...signed,
    method: 'GET',
    path: '/v1/secrets',
    operationId: 'fetchSecrets',
    summary: 'All secrets of the signing project in one environment',
    limit: 'fetch',
    query: z.object({ env: env.default(DEFAULT_ENV) }),
    answer: z.record(z.string(), z.string()),
    errors: ['decryption_failed'],
    handle: async ({ query, caller }, { projectSecrets }) =>
      new JsonText((await projectSecrets.fetch(caller, query.env)).json),
  }),
  ownEndpoint({
    ...signed,
    method: 'PUT',
    path: '/v1/secrets',
    operationId: 'putSecret',
    summary: 'Create a secret or overwrite its value',
    limit: 'none',
    body: z.strictObject({
      key: secretKey,
      value: z
        .string()
        .refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, 'must have at most 64 KiB as UTF-8'),
      env,
    }),
    answer: ok,
    errors: ['decryption_failed'],
    handle: async ({ body, caller }, { projectSecrets }) => {
      await projectSecrets.put(caller, body)
      return OK
    },
  }),
  ownEndpoint({
    ...signed,
    method: 'DELETE',
    path: '/v1/secrets',
    operationId: 'deleteOwnSecretByKey',
    summary: 'Delete a secret of the signing project permanently, by its key',
    limit: 'none',
    query: z.object({ key: secretKey, env }),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ query, caller }, { projectSecrets }) => {
      await projectSecrets.remove(caller, query)
      return OK
    },
  }),
  ownEndpoint({
    ...signed,
    method: 'DELETE',
    path: '/v1/secrets/:id',
    operationId: 'deleteOwnSecret',
    summary: 'Delete a secret of the signing project permanently',
    limit: 'none',
    // A key that may not write is told so, whatever the id.
    params: z.object({ id: z.string() }),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { projectSecrets }) => {
      await projectSecrets.remove(caller, { id: params.id })
      return OK
    },
  }),
]

/** What administrators do with secrets: list, delete, restore; never read. */
export const secretAdminEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/projects/:id/secrets',
    operationId: 'listSecrets',
    summary: 'The secrets of a project, without their values',
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
    ...admin,
    method: 'DELETE',
    path: '/v1/admin/secrets/:id',
    operationId: 'deleteSecret',
    summary: 'Delete a secret and all its versions permanently',
    params: idParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { secrets }) => {
      await secrets.removeAny(params.id, caller)
      return OK
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/secrets/:id/versions',
    operationId: 'listSecretVersions',
    summary: 'The versions of a secret, newest first, without their values',
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
    ...admin,
    method: 'POST',
    path: '/v1/admin/secrets/:id/versions/:version/restore',
    operationId: 'restoreSecretVersion',
    summary: 'Make the value of an older version current, as a new version',
    params: idParams.extend({ version: versionNumber }),
    answer: ok.extend({ version: z.int() }),
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, caller }, { secrets }) => ({
      ...OK,
      version: await secrets.restore(params.id, Number(params.version), caller),
    }),
  }),
]
