import { JsonText } from '@vault-and-tracker/rest'
import { z } from 'zod'
import { DEFAULT_ENV, SECRET_KEY } from '../access/names.ts'
import { env, OK, ok } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import { NOTE, OWNER } from './details.ts'
import type { ProjectSecrets } from './project-secrets.ts'
import { MAX_VALUE_BYTES } from './values.ts'

/** The key of a secret. */
export const secretKey = z.string().regex(SECRET_KEY, 'must be 1 to 256 characters without control characters')

/** The value of a secret. */
export const value = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= MAX_VALUE_BYTES, 'must be at most 64 KiB of UTF-8')

/** Whether a value in a body contains references. */
export const references = z.boolean().default(false).meta({
  description:
    'Whether the value contains references: ${KEY}, or ${project.environment.KEY}. Write $${ for a literal ${. They are resolved when the value is fetched.',
})

/** A time that every reader can show. */
const expiry = z.iso
  .datetime({ offset: true, error: 'must be a time as in RFC 3339' })
  .transform((text) => new Date(text))
  .refine((time) => time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9999, 'must be between 1970 and 9999')

/** The details of a secret in a body: a missing member leaves them as they are, null removes them. */
export const detailFields = {
  note: z.string().regex(NOTE, 'must be 1 to 500 characters without control characters, or null').nullable().optional(),
  owner: z
    .string()
    .regex(OWNER, 'must be 1 to 100 characters without control characters, or null')
    .nullable()
    .optional(),
  expiresAt: expiry
    .nullable()
    .optional()
    .meta({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the value should have been replaced. The vault warns, and keeps serving it.',
    }),
}

const ownEndpoint = endpoints<{ projectSecrets: ProjectSecrets }>()
const signed = { tag: 'secrets', access: 'signature' } as const

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
    errors: ['decryption_failed', 'unresolved_reference'],
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
    body: z.strictObject({ key: secretKey, value, env, references, ...detailFields }),
    answer: ok,
    errors: ['decryption_failed', 'unresolved_reference'],
    handle: async ({ body: { key, value, env, references, ...details }, caller }, { projectSecrets }) => {
      await projectSecrets.put(caller, { key, value, env, references, details })
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
    errors: ['not_found', 'decryption_failed', 'unresolved_reference'],
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
    errors: ['not_found', 'decryption_failed', 'unresolved_reference'],
    handle: async ({ params, caller }, { projectSecrets }) => {
      await projectSecrets.remove(caller, { id: params.id })
      return OK
    },
  }),
]
