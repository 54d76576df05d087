import { z } from 'zod'
import { hasAccess, requireName } from '../access/administrator.ts'
import { DEFAULT_KEY, PROJECT_NAME } from '../access/names.ts'
import type { AuditLog } from '../audit/audit.ts'
import {
  EXPIRY,
  expiry,
  keyName,
  OK,
  ok,
  presentScope,
  projectParams,
  publicKey,
  scope,
  scopeAnswer,
  time,
} from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { fingerprintOf } from '../integrity/rows.ts'
import { KEY_STATES, type ListedKey, OVERLAP_MS } from './project-keys.ts'
import type { Projects } from './projects.ts'

const project = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    publicKey: z
      .string()
      .regex(/^([0-9a-f]{64})?$/)
      .meta({ description: 'Empty for a project without a key.' }),
    createdAt: time,
    requireContentDigest: z.literal(true).optional(),
  })
  .meta({ id: 'Project' })

const projectKey = z
  .strictObject({
    name: z.string().meta({ description: 'The person, host or job that uses the key. A rotated key keeps its name.' }),
    fingerprint: z.string().meta({ description: 'The first 32 hex digits of the SHA-256 of the public key.' }),
    state: z.enum(KEY_STATES).meta({ description: 'A replaced key is valid until its overlap ends.' }),
    since: time,
    until: time.nullable().meta({ description: 'When it ends or ended; null for a key that lasts until revoked.' }),
    lastUsedAt: time.nullable().meta({ description: 'Up to ten seconds behind.' }),
    subject: z.string().optional().meta({
      description: 'Of the ID token, if the key was exchanged for one. The name is that of the trust rule.',
    }),
    scope: scopeAnswer,
  })
  .meta({ id: 'ProjectKey', description: 'A key of a project.' })

function presentKey(key: ListedKey): z.output<typeof projectKey> {
  const { name, publicKey, state, createdAt, until, lastUsedAt, subject, scope } = key
  return {
    name,
    fingerprint: fingerprintOf(publicKey),
    state,
    since: createdAt.toISOString(),
    until: until?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    ...(subject !== undefined && { subject }),
    scope: presentScope(scope),
  }
}

const endpoint = endpoints<{ projects: Projects; audit: AuditLog }>()

/** Projects and their keys. */
export const projectEndpoints = [
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects',
    operationId: 'listProjects',
    summary: 'List projects',
    answer: z.array(project),
    handle: async ({ caller }, { projects, audit }) => {
      const listed = (await projects.list()).filter(({ name }) => hasAccess(caller, name))
      await audit.noteRead(caller, { what: 'projects' })
      return listed.map(({ id, name, publicKey, requireContentDigest, createdAt }) => ({
        ...{ id, name, publicKey },
        createdAt: createdAt.toISOString(),
        ...(requireContentDigest && { requireContentDigest }),
      }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects',
    operationId: 'createProject',
    summary: 'Create a project with its public key',
    body: z.strictObject({
      name: z
        .string()
        .regex(
          PROJECT_NAME,
          'must be 1 to 63 letters, digits, dots, dashes and underscores, starting with a letter or digit',
        ),
      publicKey,
      requireContentDigest: z.boolean().default(false),
      scope: scope
        .default({ access: 'read-write', envs: null })
        .meta({ description: 'What the key may do; everything by default.' }),
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
    ...adminEndpoint,
    method: 'PATCH',
    path: '/v1/admin/projects/:id',
    operationId: 'updateProject',
    summary: 'Set whether signatures of writes must cover the body',
    params: projectParams,
    body: z.strictObject({ requireContentDigest: z.boolean() }),
    answer: ok,
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, body, caller }, { projects }) => {
      await projects.setRequireContentDigest({ name: params.id, required: body.requireContentDigest, by: caller })
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/projects/:id',
    operationId: 'deleteProject',
    summary: 'Permanently delete a project and all its secrets',
    params: projectParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { projects }) => {
      await projects.remove({ name: params.id, by: caller })
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'PUT',
    path: '/v1/admin/projects/:id/rotate',
    operationId: 'rotateProjectKey',
    summary: 'Replace a key of a project. A generated private key is returned once and not stored.',
    params: projectParams,
    body: z.strictObject({
      name: keyName.default(DEFAULT_KEY).meta({ description: 'The name of the key to replace.' }),
      publicKey: publicKey.optional(),
      overlap: z
        .int()
        .min(0)
        .max(OVERLAP_MS / 1000)
        .default(OVERLAP_MS / 1000)
        .meta({ description: 'How long replaced keys stay valid, in seconds.' }),
      scope: scope.optional().meta({ description: 'What the key may do; by default the same as the replaced key.' }),
      expiresAt: expiry.optional().meta({ ...EXPIRY, description: 'By default when the replaced key would expire.' }),
    }),
    bodyIsOptional: true,
    answer: ok.extend({ privateKey: z.string().optional() }),
    errors: ['invalid_public_key', 'not_found', 'key_exists', 'too_many_keys', 'decryption_failed'],
    handle: async ({ params, body: { overlap, ...body }, caller }, { projects }) => {
      const rotated = await projects.rotate({
        ...body,
        project: params.id,
        scope: body.scope,
        expiresAt: body.expiresAt,
        publicKey: body.publicKey,
        overlapMs: overlap * 1000,
        by: caller,
      })
      return { ...OK, ...rotated }
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/projects/:id/keys',
    operationId: 'addProjectKey',
    summary: 'Add a key to a project. A generated private key is returned once and not stored.',
    params: projectParams,
    body: z.strictObject({
      name: keyName.meta({ description: 'A name that no active key of the project has.' }),
      publicKey: publicKey.optional(),
      scope: scope
        .default({ access: 'read-write', envs: null })
        .meta({ description: 'What the key may do; everything by default.' }),
      expiresAt: expiry.default(null).meta({ ...EXPIRY, description: 'null for a key that lasts until revoked.' }),
    }),
    status: 201,
    answer: ok.extend({ fingerprint: z.string(), privateKey: z.string().optional() }),
    errors: ['invalid_public_key', 'not_found', 'key_exists', 'too_many_keys', 'decryption_failed'],
    handle: async ({ params, body, caller }, { projects }) => {
      const added = await projects.addKey({ ...body, project: params.id, publicKey: body.publicKey, by: caller })
      return { ...OK, ...added }
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/projects/:id/keys',
    operationId: 'listProjectKeys',
    summary: 'List the active keys of a project, newest first',
    params: projectParams,
    query: z.object({
      ended: z
        .enum(['true', 'false'], 'must be true or false')
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Whether to include keys that expired or were revoked in the last 30 days.' }),
    }),
    answer: z.array(projectKey),
    errors: ['not_found'],
    handle: async ({ params, query, caller }, { projects, audit }) => {
      const keys = await projects.keysOf(params.id, query)
      await audit.noteRead(caller, { what: 'keys', projectId: params.id })
      return keys.map(presentKey)
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/keys',
    operationId: 'listKeys',
    summary: 'List the active keys of all projects, newest first per project',
    answer: z.array(projectKey.extend({ project: z.string() }).meta({ id: 'KeyOfProject' })),
    handle: async ({ caller }, { projects, audit }) => {
      const listed = (await projects.allKeys()).filter(({ project }) => hasAccess(caller, project))
      await audit.noteRead(caller, { what: 'keys' })
      return listed.flatMap(({ project, keys }) => keys.map((key) => ({ project, ...presentKey(key) })))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/projects/:id/keys/:fingerprint',
    operationId: 'revokeProjectKey',
    summary: 'Revoke a key of a project immediately',
    params: projectParams.extend({ fingerprint: z.string().regex(/^[0-9a-f]{32}$/) }),
    answer: ok,
    errors: ['not_found', 'decryption_failed'],
    handle: async ({ params, caller }, { projects }) => {
      await projects.revokeKey({ name: params.id, fingerprint: params.fingerprint, by: caller })
      return OK
    },
  }),
]
