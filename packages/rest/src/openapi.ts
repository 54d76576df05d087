import { type Command, defineAction } from '@vault-and-tracker/service-kit/lifecycle/command'
import { z } from 'zod'
import type { Description, Surface } from './endpoint.ts'

type Json = Record<string, unknown>

/** An OpenAPI 3.1 document as plain JSON. */
export type OpenApiDocument = {
  readonly openapi: '3.1.0'
  readonly info: Json
  readonly servers: readonly Json[]
  readonly tags: readonly Json[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: Json
}

/** The parts of a document that do not come from its endpoints. */
export type DocumentOptions<S extends Surface> = {
  readonly title: string
  readonly version: string
  readonly description: string
  /** The groups of endpoints with their descriptions, in order. */
  readonly tags: Readonly<Record<string, string>>
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** The alternative security requirements of an endpoint; empty for a public one. */
  readonly security: (endpoint: Description<S>) => readonly Json[]
  /** The service's error table; `meaning` describes the response. */
  readonly errors: Readonly<Record<S['code'], { readonly status: number; readonly meaning: string }>>
  /** The schema of an error body. */
  readonly errorBody: z.ZodType
  /** The codes that an endpoint can answer, including those of its guards. */
  readonly codesOf: (endpoint: Description<S>) => readonly S['code'][]
  /** Headers that authenticate a caller but are not a security scheme of OpenAPI. */
  readonly headersOf?: (endpoint: Description<S>) => readonly { readonly name: string; readonly description: string }[]
}

/**
 * Describes endpoints as an OpenAPI 3.1 document, based on the schemas that requests are parsed with. Schemas with an id
 * (`.meta({ id })`) become components.
 */
export function openApiDocument<S extends Surface>(
  endpoints: readonly Description<S>[],
  options: DocumentOptions<S>,
): OpenApiDocument {
  const schemas = createSchemas()
  const error = jsonContent(schemas.of(options.errorBody, 'output'))
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    path[endpoint.method.toLowerCase()] = operation(endpoint, options, schemas, error)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [
      ...Object.entries(options.tags).map(([name, description]) => ({ name, description })),
      { name: 'operations', description: 'Endpoints for load balancers and monitoring' },
    ],
    paths: { ...paths, ...operationalPaths },
    components: {
      securitySchemes: options.securitySchemes,
      schemas: schemas.named(),
    },
  }
}

/** Converts schemas to JSON Schema, and collects the named ones, to which the others refer. */
function createSchemas() {
  const named: Json = {}
  return {
    named: () => Object.fromEntries(Object.entries(named).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    of(schema: z.ZodType, io: 'input' | 'output'): Json {
      // As the items of an array, a named schema becomes a reference too.
      const converted = z.toJSONSchema(z.array(schema), {
        io,
        unrepresentable: 'any',
        override: ({ jsonSchema, zodSchema: { _zod: zod } }) => {
          delete jsonSchema.id
          // zod omits the default of a transformed value, which has the type of the output; in our queries both look the same.
          if (zod.def.type === 'default') jsonSchema.default = zod.def.defaultValue
          // A number in a query is text to the parser, and a number to a reader of the document.
          if (jsonSchema.type === 'integer') delete jsonSchema.pattern
          if (io === 'output') delete jsonSchema.additionalProperties
        },
      })
      const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')
      const { items, $defs } = JSON.parse(text) as { items: Json; $defs?: Json }
      // The output form of a schema takes precedence.
      Object.assign(named, io === 'output' ? $defs : { ...$defs, ...named })
      return items
    },
  }
}

type Schemas = ReturnType<typeof createSchemas>

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } }
}

function operation<S extends Surface>(
  endpoint: Description<S>,
  options: DocumentOptions<S>,
  schemas: Schemas,
  error: Json,
): Json {
  const parameters = [
    ...parametersIn('path', endpoint.params, schemas),
    ...parametersIn('query', endpoint.query, schemas),
    ...(options.headersOf?.(endpoint) ?? []).map((header) => ({
      ...header,
      in: 'header',
      required: true,
      schema: { type: 'string' },
    })),
  ]
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: [endpoint.tag],
    'x-access': endpoint.access,
    'x-limit': endpoint.limit,
    security: options.security(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...((endpoint.body ?? endpoint.upload) && { requestBody: requestBody(endpoint, schemas) }),
    responses: {
      [endpoint.status]: success(endpoint, schemas),
      ...(endpoint.isConditional === true && { 304: { description: 'Unchanged since the `ETag` in If-None-Match' } }),
      ...failures(endpoint, options, error),
    },
  }
}

function requestBody<S extends Surface>(endpoint: Description<S>, schemas: Schemas): Json {
  const schema = endpoint.body === undefined ? { type: 'object' } : schemas.of(endpoint.body, 'input')
  const required = !endpoint.bodyIsOptional
  if (endpoint.upload === undefined) return { required, content: jsonContent(schema) }
  const { field } = endpoint.upload
  const properties = {
    [field]: { type: 'string', contentMediaType: 'application/octet-stream' },
    ...object(schema['properties']),
  }
  const fields = [field, ...(Array.isArray(schema['required']) ? schema['required'].map(String) : [])]
  return {
    required,
    content: {
      'multipart/form-data': { schema: { type: 'object', properties, required: fields, additionalProperties: false } },
    },
  }
}

function success<S extends Surface>(endpoint: Description<S>, schemas: Schemas): Json {
  if (endpoint.answerTypes !== undefined)
    return { description: 'The file', content: Object.fromEntries(endpoint.answerTypes.map((type) => [type, {}])) }
  if (endpoint.answer === undefined) return { description: 'Done' }
  return { description: 'Done', content: jsonContent(schemas.of(endpoint.answer, 'output')) }
}

/** One response per status. Its description lists all codes of that status, in the order of the table. */
function failures<S extends Surface>(
  endpoint: Description<S>,
  { errors, codesOf }: DocumentOptions<S>,
  content: Json,
): Json {
  const codes: readonly string[] = codesOf(endpoint)
  const responses: Record<string, { description: string; content: Json }> = {}
  for (const [code, { status, meaning }] of Object.entries<{ status: number; meaning: string }>(errors)) {
    if (!codes.includes(code)) continue
    const before = responses[String(status)]?.description
    const line = `\`${code}\`: ${meaning}`
    responses[String(status)] = { description: before === undefined ? line : `${before}\n\n${line}`, content }
  }
  return responses
}

function parametersIn(place: 'path' | 'query', schema: z.ZodObject | undefined, schemas: Schemas): readonly Json[] {
  if (schema === undefined) return []
  const { properties, required } = schemas.of(schema, 'input')
  return Object.entries(object(properties)).map(([name, value]) => {
    const { description, ...rest } = object(value)
    const isRequired = place === 'path' || (Array.isArray(required) && required.includes(name))
    return {
      name,
      in: place,
      ...(isRequired && { required: true }),
      ...(typeof description === 'string' && { description }),
      schema: rest,
    }
  })
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const content = (schema: object) => ({ 'application/json': { schema } })
const ok = { type: 'object', properties: { ok: { const: true } }, required: ['ok'] }
const readiness = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    checks: { type: 'object', additionalProperties: { enum: ['ok', 'failed'] } },
  },
  required: ['ok', 'checks'],
}
const malformed = { '4XX': { description: 'The message is not HTTP/1.1, or its headers are too large' } }

const get = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, summary, tags: ['operations'], security: [], responses: { ...responses, ...malformed } },
})

/** The paths that `healthRoutes` of service-kit serves in both services, as OpenAPI describes them. */
const operationalPaths = {
  '/health': get('health', 'Check that the process is running', {
    200: { description: 'The process is running', content: content(ok) },
  }),
  '/ready': get('ready', 'Check that the service and its dependencies work; fails once the service starts to stop', {
    200: { description: 'Ready', content: content(readiness) },
    503: { description: 'Not ready; `checks` lists the failed checks', content: content(readiness) },
  }),
  '/metrics': get('metrics', 'Get metrics in the Prometheus text format', {
    200: { description: 'The metrics', content: { 'text/plain': {} } },
  }),
}

/** The command `openapi` of a service: writes the service's OpenAPI document to standard output. */
export function openApiCommand(describeApi: () => OpenApiDocument): Command {
  return {
    name: 'openapi',
    actions: defineAction({
      summary: 'Write the OpenAPI document of this service to standard output',
      inputs: {},
      run: (_input, { stdout }) => {
        stdout.write(`${JSON.stringify(describeApi(), undefined, 2)}\n`)
        return Promise.resolve(0)
      },
    }),
  }
}
