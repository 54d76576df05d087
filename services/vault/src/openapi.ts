import { isMain } from '@vault-and-tracker/service-kit/command'
import { z } from 'zod'
import { auditQuery } from './audit/audit.routes.ts'
import { ERRORS, type ErrorCode } from './errors.ts'
import { createBody, rotateBody, updateBody } from './projects/projects.routes.ts'
import { fetchQuery, putBody } from './secrets/secrets.routes.ts'
import { listQuery } from './secrets/secrets-admin.routes.ts'

type Endpoint = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  auth: 'none' | 'admin' | 'signature'
  query?: z.ZodObject<Readonly<Record<string, z.ZodType>>>
  body?: z.ZodType
  bodyIsOptional?: boolean
  status?: 201
  answer: z.ZodType
  errors: readonly ErrorCode[]
}

const ok = z.strictObject({ ok: z.literal(true) })
const time = z.iso.datetime({ precision: 3 })
const id = z.uuidv7()
const project = z.strictObject({
  id: z.string(),
  name: z.string(),
  publicKey: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: time,
  requireContentDigest: z.literal(true).optional(),
})
const secret = z.strictObject({ id, key: z.string(), env: z.string(), updatedAt: time })
const version = z.strictObject({ version: z.int(), createdAt: time, current: z.boolean() })
const entry = z.strictObject({
  id,
  projectId: z.string(),
  action: z.string(),
  env: z.string().nullable(),
  requestedAt: time,
  ip: z.string(),
  detail: z.record(z.string(), z.unknown()).nullable().optional(),
})

const BODY: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type', 'invalid_request']

/** The endpoints as they are documented; a test holds them against the routes. */
const ENDPOINTS: readonly Endpoint[] = [
  { method: 'get', path: '/health', summary: 'The process runs', auth: 'none', answer: ok, errors: [] },
  {
    method: 'get',
    path: '/v1/admin/projects',
    summary: 'All projects',
    auth: 'admin',
    answer: z.array(project),
    errors: [],
  },
  {
    method: 'post',
    path: '/v1/admin/projects',
    summary: 'Register a project with its public key',
    auth: 'admin',
    body: createBody,
    status: 201,
    answer: ok.extend({ id: z.string() }),
    errors: [...BODY, 'invalid_public_key', 'project_exists'],
  },
  {
    method: 'patch',
    path: '/v1/admin/projects/{id}',
    summary: 'Say whether writes have to cover their body with a digest',
    auth: 'admin',
    body: updateBody,
    answer: ok,
    errors: [...BODY, 'not_found'],
  },
  {
    method: 'delete',
    path: '/v1/admin/projects/{id}',
    summary: 'Delete a project with all its secrets, for good',
    auth: 'admin',
    answer: ok,
    errors: ['not_found'],
  },
  {
    method: 'put',
    path: '/v1/admin/projects/{id}/rotate',
    summary: 'Replace the key; the private half of a generated one is answered this once',
    auth: 'admin',
    body: rotateBody,
    bodyIsOptional: true,
    answer: ok.extend({ privateKey: z.string().optional() }),
    errors: [...BODY, 'invalid_public_key', 'not_found'],
  },
  {
    method: 'get',
    path: '/v1/admin/projects/{id}/secrets',
    summary: 'The secrets of a project, without their values',
    auth: 'admin',
    query: listQuery,
    answer: z.array(secret),
    errors: ['not_found'],
  },
  {
    method: 'delete',
    path: '/v1/admin/secrets/{id}',
    summary: 'Delete a secret with all its versions, for good',
    auth: 'admin',
    answer: ok,
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/v1/admin/secrets/{id}/versions',
    summary: 'The versions of a secret, newest first, without their values',
    auth: 'admin',
    answer: z.array(version),
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/v1/admin/secrets/{id}/versions/{version}/restore',
    summary: 'Make the value of an older version current, as a new version',
    auth: 'admin',
    answer: ok.extend({ version: z.int() }),
    errors: ['not_found', 'decryption_failed'],
  },
  {
    method: 'get',
    path: '/v1/admin/audit',
    summary: 'The audit log, newest first: fetches and rotations, or one other action',
    auth: 'admin',
    query: auditQuery,
    answer: z.array(entry),
    errors: [],
  },
  {
    method: 'get',
    path: '/v1/secrets',
    summary: 'All secrets of the signing project in one environment',
    auth: 'signature',
    query: fetchQuery,
    answer: z.record(z.string(), z.string()),
    errors: ['decryption_failed'],
  },
  {
    method: 'put',
    path: '/v1/secrets',
    summary: 'Create a secret or overwrite its value',
    auth: 'signature',
    body: putBody,
    answer: ok,
    errors: ['decryption_failed'],
  },
  {
    method: 'delete',
    path: '/v1/secrets/{id}',
    summary: 'Delete a secret of the signing project, for good',
    auth: 'signature',
    answer: ok,
    errors: ['not_found'],
  },
]

const AUTH_ERRORS: Readonly<Record<Endpoint['auth'], readonly ErrorCode[]>> = {
  none: [],
  admin: ['invalid_request', 'unauthorized', 'rate_limited', 'unavailable', 'internal_error'],
  signature: [
    ...BODY,
    'missing_signature',
    'unknown_project',
    'invalid_signature',
    'expired',
    'replayed_nonce',
    'rate_limited',
    'unavailable',
    'internal_error',
  ],
}

const SIGNATURE_HEADERS = ['Signature', 'Signature-Input', 'Signature-Agent'] as const

/** The OpenAPI 3.1 description, made of the very schemas that requests are checked with and of the error table. */
export function createOpenapi() {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of ENDPOINTS) {
    const path = (paths[endpoint.path] ??= {})
    path[endpoint.method] = operation(endpoint)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Secrets vault',
      version: '1.0.0',
      description: 'Every path knows its methods: another one is 405 method_not_allowed, another path 404 not_found.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      securitySchemes: { admin: { type: 'http', scheme: 'bearer', description: 'The admin token' } },
      schemas: {
        Error: {
          ...schemaOf(z.strictObject({ error: z.enum(Object.keys(ERRORS)), message: z.string().optional() })),
          description: Object.entries(ERRORS)
            .map(([code, { status, meaning }]) => `${code} (${String(status)}): ${meaning}`)
            .join('\n'),
        },
      },
    },
  }
}

function operation(endpoint: Endpoint) {
  const { summary, auth, query, body, answer, status = 200 } = endpoint
  const parameters = [
    ...[...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
      parameter('path', name ?? '', { type: 'string' }, true),
    ),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => parameter('query', name, schemaOf(schema), false)),
    ...(auth === 'signature'
      ? SIGNATURE_HEADERS.map((name) => parameter('header', name, { type: 'string' }, true))
      : []),
  ]
  return {
    summary,
    ...(auth === 'admin' && { security: [{ admin: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: endpoint.bodyIsOptional !== true, content: json(schemaOf(body)) } }),
    responses: {
      [status]: { description: 'Success', content: json(schemaOf(answer)) },
      ...errorAnswers([...new Set([...endpoint.errors, ...AUTH_ERRORS[auth]])]),
    },
  }
}

function errorAnswers(codes: readonly ErrorCode[]) {
  const byStatus: Record<number, { description: string; content: unknown }> = {}
  for (const status of new Set(codes.map((code) => ERRORS[code].status)))
    byStatus[status] = {
      description: codes.filter((code) => ERRORS[code].status === status).join(', '),
      content: json({ $ref: '#/components/schemas/Error' }),
    }
  return byStatus
}

function parameter(place: 'path' | 'query' | 'header', name: string, schema: unknown, required: boolean) {
  return { name, in: place, required, schema }
}

function json(schema: unknown) {
  return { 'application/json': { schema } }
}

function schemaOf(schema: z.core.$ZodType) {
  const described: Record<string, unknown> = { ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) }
  delete described['$schema']
  return described
}

if (isMain(import.meta)) process.stdout.write(`${JSON.stringify(createOpenapi(), undefined, 2)}\n`)
