import { z } from 'zod'
import { requireName, touches } from '../admin/permissions.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { OK, ok, projectParams, time } from '../http/fields.ts'
import { endpoints } from '../http/surface.ts'
import { ENV } from '../secrets/secrets.ts'
import { ACCESS, fingerprintOf, OVERLAP_MS, type ProjectKey } from './project-keys.ts'
import { PROJECT_NAME, type Projects } from './projects.ts'

/** Any other type than a string is an invalid key, not a malformed request. */
const publicKey = z
  .custom<unknown>((key) => key !== undefined, 'is required')
  .transform((key) => (typeof key === 'string' ? key : ''))
  .meta({ type: 'string', description: '64 hex digits, or a JWK as a JSON string' })

const scope = z.strictObject({
  access: z.enum(ACCESS).default('read-write'),
  envs: z
    .array(z.string().regex(ENV, 'must be names of environments'))
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .meta({ description: 'null for all environments' }),
})

const project = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    publicKey: z
      .string()
      .regex(/^([0-9a-f]{64})?$/)
      .meta({ description: 'empty for a project without a key' }),
    createdAt: time,
    requireContentDigest: z.literal(true).optional(),
  })
  .meta({ id: 'Project' })

const projectKey = z
  .strictObject({
    fingerprint: z.string().meta({ description: 'the first 32 hex digits of the SHA-256 of the public key' }),
    since: time,
    until: time.nullable(),
    lastUsedAt: time.nullable().meta({ description: 'up to ten seconds behind' }),
    scope: z.strictObject({ access: z.enum(ACCESS), envs: z.array(z.string()).nullable() }),
  })
  .meta({ id: 'ProjectKey', description: 'A valid key of a project' })

function presentKey({ publicKey, createdAt, notAfter, lastUsedAt, scope }: ProjectKey): z.output<typeof projectKey> {
  return {
    fingerprint: fingerprintOf(publicKey),
    since: createdAt.toISOString(),
    until: notAfter?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    scope: { access: scope.access, envs: scope.envs === null ? null : [...scope.envs] },
  }
}

const endpoint = endpoints<{ projects: Projects; audit: AuditLog }>()
const admin = { tag: 'administration', access: 'admin', limit: 'none' } as const

/** What administrators do with projects. */
export const projectEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/projects',
    operationId: 'listProjects',
    summary: 'All projects',
    answer: z.array(project),
    handle: async ({ caller }, { projects, audit }) => {
      const listed = (await projects.list()).filter(({ name }) => touches(caller, name))
      await audit.noteRead(caller, { what: 'projects' })
      return listed.map(({ id, name, publicKey, requireContentDigest, createdAt }) => ({
        ...{ id, name, publicKey },
        createdAt: createdAt.toISOString(),
        ...(requireContentDigest && { requireContentDigest }),
      }))
    },
  }),
  endpoint({
    ...admin,
    method: 'POST',
    path: '/v1/admin/projects',
    operationId: 'createProject',
    summary: 'Register a project with its public key',
    body: z.strictObject({
      name: z
        .string()
        .regex(
          PROJECT_NAME,
          'must be 1 to 63 letters, digits, dots, dashes and underscores, the first a letter or digit',
        ),
      publicKey,
      requireContentDigest: z.boolean().default(false),
      scope: scope
        .default({ access: 'read-write', envs: null })
        .meta({ description: 'what the key may do; without it everything' }),
    }),
    status: 201,
    answer: ok.extend({ id: z.string() }),
    errors: ['invalid_public_key', 'project_exists'],
    handle: async ({ body, caller }, { projects }) => {
      requireName(caller, body.name)
      await projects.create({ ...body, by: caller })
      return { ...OK, id: body.name }
    },
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    path: '/v1/admin/projects/:id',
    operationId: 'updateProject',
    summary: 'Set whether signatures of writes must cover the body',
    params: projectParams,
    body: z.strictObject({ requireContentDigest: z.boolean() }),
    answer: ok,
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, body, caller }, { projects }) => {
      await projects.setRequireContentDigest({
        name: params.id,
        required: body.requireContentDigest,
        by: caller,
      })
      return OK
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/v1/admin/projects/:id',
    operationId: 'deleteProject',
    summary: 'Delete a project and all its secrets permanently',
    params: projectParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { projects }) => {
      await projects.remove({ name: params.id, by: caller })
      return OK
    },
  }),
  endpoint({
    ...admin,
    method: 'PUT',
    path: '/v1/admin/projects/:id/rotate',
    operationId: 'rotateProjectKey',
    summary: 'Replace the key; a private key that is generated is in this response only',
    params: projectParams,
    body: z.strictObject({
      publicKey: publicKey.optional(),
      overlap: z
        .int()
        .min(0)
        .max(OVERLAP_MS / 1000)
        .default(OVERLAP_MS / 1000)
        .meta({ description: 'seconds that replaced keys stay valid at most' }),
      scope: scope.optional().meta({ description: 'what the key may do; without it what the replaced key may' }),
    }),
    bodyIsOptional: true,
    answer: ok.extend({ privateKey: z.string().optional() }),
    errors: ['invalid_public_key', 'not_found', 'decryption_failed'],
    handle: async ({ params, body, caller }, { projects }) => {
      const rotated = await projects.rotate({
        name: params.id,
        publicKey: body.publicKey,
        overlapMs: body.overlap * 1000,
        scope: body.scope,
        by: caller,
      })
      return { ...OK, ...rotated }
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/projects/:id/keys',
    operationId: 'listProjectKeys',
    summary: 'The valid keys of a project, the newest first',
    params: projectParams,
    answer: z.array(projectKey),
    errors: ['not_found'],
    handle: async ({ params, caller }, { projects, audit }) => {
      const keys = await projects.keysOf(params.id)
      await audit.noteRead(caller, { what: 'keys', projectId: params.id })
      return keys.map(presentKey)
    },
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/v1/admin/keys',
    operationId: 'listKeys',
    summary: 'The valid keys of all projects, of each the newest first',
    answer: z.array(projectKey.extend({ project: z.string() }).meta({ id: 'KeyOfProject' })),
    handle: async ({ caller }, { projects, audit }) => {
      const listed = (await projects.list()).filter(({ name }) => touches(caller, name))
      await audit.noteRead(caller, { what: 'keys' })
      return listed.flatMap(({ name, keys }) => keys.map((key) => ({ project: name, ...presentKey(key) })))
    },
  }),
  endpoint({
    ...admin,
    method: 'DELETE',
    path: '/v1/admin/projects/:id/keys/:fingerprint',
    operationId: 'revokeProjectKey',
    summary: 'Revoke a key of a project at once',
    params: projectParams.extend({ fingerprint: z.string().regex(/^[0-9a-f]{32}$/) }),
    answer: ok,
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, caller }, { projects }) => {
      await projects.revokeKey({ name: params.id, fingerprint: params.fingerprint, by: caller })
      return OK
    },
  }),
]
