import { JsonText } from '@vault-and-tracker/rest'
import { z } from 'zod'
import { DEFAULT_ENV, ENV, SECRET_KEY } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import { idParams, OK, ok, projectParams, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import type { ProjectSecrets } from './project-secrets.ts'
import { MAX_VALUE_BYTES, type Secrets } from './secrets.ts'

const env = z
  .string()
  .regex(ENV, 'must be 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit')

const secretKey = z.string().regex(SECRET_KEY, 'must be 1 to 256 characters without control characters')

const secret = z
  .strictObject({ id: uuid, key: z.string(), env: z.string(), updatedAt: time })
  .meta({ id: 'SecretMetadata', description: 'A secret without its value.' })

const version = z
  .strictObject({ version: z.int(), createdAt: time, current: z.boolean() })
  .meta({ id: 'SecretVersion', description: 'A version of a secret without its value.' })

const versionNumber = z.string().regex(/^[1-9][0-9]{0,9}$/)

const ownEndpoint = endpoints<{ projectSecrets: ProjectSecrets }>()
const signed = { tag: 'secrets', access: 'signature' } as const
const endpoint = endpoints<{ secrets: Secrets; audit: AuditLog }>()

/** The secrets of the signing project. */
export const secretEndpoints = [
  ownEndpoint({
    ...signed,
    method: 'GET',
    path: '/v1/secrets',
    operationId: 'fetchSecrets',
    summary: 'Fetch all secrets of the signing project in one environment',
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
        .refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, 'must be at most 64 KiB of UTF-8'),
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
    summary: 'Permanently delete a secret of the signing project by its key',
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
    summary: 'Permanently delete a secret of the signing project',
    limit: 'none',
    // A key that may not write gets 403 for any id.
    params: z.object({ id: z.string() }),
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { projectSecrets }) => {
      await projectSecrets.remove(caller, { id: params.id })
      return OK
    },
  }),
]

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
    method: 'DELETE',
    path: '/v1/admin/secrets/:id',
    operationId: 'deleteSecret',
    summary: 'Permanently delete a secret and all its versions',
    params: idParams,
    answer: ok,
    errors: ['not_found'],
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
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, caller }, { secrets }) => ({
      ...OK,
      version: await secrets.restore(params.id, Number(params.version), caller),
    }),
  }),
]
