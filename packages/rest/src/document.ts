import { z } from 'zod'
import type { Description, Surface } from './endpoint.ts'
import { operationalPaths } from './operational.ts'

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

/** What a document says beyond its endpoints. */
export type DocumentOptions<S extends Surface> = {
  readonly title: string
  readonly version: string
  readonly description: string
  /** The groups of endpoints with what they are for, in their order. */
  readonly tags: Readonly<Record<string, string>>
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** The security requirement of an access level; empty for a public one. */
  readonly security: (access: string) => readonly Json[]
  /** The service's error table; `meaning` describes the response. */
  readonly errors: Readonly<Record<S['code'], { readonly status: number; readonly meaning: string }>>
  /** The schema of an error body. */
  readonly errorBody: z.ZodType
  /** The codes an endpoint can answer, those of its guards included. */
  readonly codesOf: (endpoint: Description<S>) => readonly S['code'][]
  /** Headers that authenticate a caller and are no security scheme of OpenAPI. */
  readonly headersOf?: (endpoint: Description<S>) => readonly { readonly name: string; readonly description: string }[]
}

/** Where references lead. zod puts this in front of the ids of named schemas. */
const REFERENCE = '#/components/schemas/'

/**
 * Describes endpoints as an OpenAPI 3.1 document, made of the very schemas that requests are parsed with. Schemas with
 * an id (`.meta({ id })`) are named parts of the document.
 */
export function openApiDocument<S extends Surface>(
  endpoints: readonly Description<S>[],
  options: DocumentOptions<S>,
): OpenApiDocument {
  const schemas = schemasOf(endpoints, options)
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    path[endpoint.method.toLowerCase()] = operation(endpoint, options, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'the service that serves this document' }],
    tags: [
      ...Object.entries(options.tags).map(([name, description]) => ({ name, description })),
      { name: 'operations', description: 'What load balancers and monitoring ask' },
    ],
    paths: { ...paths, ...operationalPaths },
    components: {
      securitySchemes: options.securitySchemes,
      schemas: schemas.named,
    },
  }
}

/** JSON Schemas: the named ones as components, the others to be written where they are used. */
type Schemas = {
  readonly named: Json
  /** The schema itself, or a reference to it where it is named. */
  of(schema: z.ZodType, io: 'input' | 'output'): Json
}

function schemasOf<S extends Surface>(endpoints: readonly Description<S>[], options: DocumentOptions<S>): Schemas {
  const roots = {
    input: endpoints.flatMap(({ params, query, body }) => [params, query, body]),
    output: [...endpoints.map(({ answer }) => answer), options.errorBody],
  }
  const input = toJsonSchemas(roots.input, 'input')
  const output = toJsonSchemas(roots.output, 'output')
  return {
    named: Object.fromEntries(
      Object.entries({ ...input.named, ...output.named }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    of: (schema, io) => (io === 'input' ? input : output).inline.get(schema) ?? {},
  }
}

/** Converts all schemas in one go, so that a named one is converted once and referred to everywhere. */
function toJsonSchemas(
  roots: readonly (z.ZodType | undefined)[],
  io: 'input' | 'output',
): { named: Json; inline: ReadonlyMap<z.ZodType, Json> } {
  const registry = z.registry<{ id: string }>()
  const anonymous = new Map<string, z.ZodType>()
  const inline = new Map<z.ZodType, Json>()
  for (const root of new Set(roots.filter((schema) => schema !== undefined))) {
    const name = z.globalRegistry.get(root)?.id
    if (name !== undefined) inline.set(root, { $ref: REFERENCE + name })
    else {
      const id = `anonymous-${String(anonymous.size)}`
      registry.add(root, { id })
      anonymous.set(id, root)
    }
  }
  for (const [name, schema] of namedWithin(roots)) registry.add(schema, { id: name })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => REFERENCE + id,
    unrepresentable: 'any',
    override: ({ jsonSchema, zodSchema: { _zod: zod } }) => {
      delete jsonSchema.id
      // zod leaves out the default of what is transformed, since it is an output; in our queries both look the same.
      if (zod.def.type === 'default') jsonSchema.default = zod.def.defaultValue
      // A number in a query is text to the parser, and a number to a reader of the document.
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern
      if (io === 'output') delete jsonSchema.additionalProperties
    },
  })
  const named: Json = {}
  for (const [id, schema] of Object.entries(schemas)) {
    const plain: Json = { ...schema }
    delete plain['$id']
    delete plain['$schema']
    const root = anonymous.get(id)
    if (root === undefined) named[id] = plain
    else inline.set(root, plain)
  }
  return { named, inline }
}

/** Every schema with an id inside the given ones, themselves included. */
function namedWithin(roots: readonly (z.ZodType | undefined)[]): ReadonlyMap<string, z.core.$ZodType> {
  const found = new Map<string, z.core.$ZodType>()
  for (const root of roots) {
    if (root === undefined) continue
    // Converting a schema visits all of its parts.
    z.toJSONSchema(root, {
      unrepresentable: 'any',
      override: ({ zodSchema }) => {
        const id = z.globalRegistry.get(zodSchema)?.id
        if (id !== undefined) found.set(id, zodSchema)
      },
    })
  }
  return found
}

function operation<S extends Surface>(endpoint: Description<S>, options: DocumentOptions<S>, schemas: Schemas): Json {
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
    security: options.security(endpoint.access),
    ...(parameters.length > 0 && { parameters }),
    ...((endpoint.body ?? endpoint.upload) && { requestBody: requestBody(endpoint, schemas) }),
    responses: { [endpoint.status]: success(endpoint, schemas), ...failures(endpoint, options, schemas) },
  }
}

function requestBody<S extends Surface>(endpoint: Description<S>, schemas: Schemas): Json {
  const schema = endpoint.body === undefined ? { type: 'object' } : schemas.of(endpoint.body, 'input')
  const required = !endpoint.bodyIsOptional
  if (endpoint.upload === undefined) return { required, content: { 'application/json': { schema } } }
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
  if (endpoint.answerType !== undefined) return { description: 'The file', content: { [endpoint.answerType]: {} } }
  if (endpoint.answer === undefined) return { description: 'Done' }
  return { description: 'Done', content: { 'application/json': { schema: schemas.of(endpoint.answer, 'output') } } }
}

/** One response for each status, since OpenAPI has no more; its description names all codes of that status, in the table's order. */
function failures<S extends Surface>(
  endpoint: Description<S>,
  { errors, codesOf, errorBody }: DocumentOptions<S>,
  schemas: Schemas,
): Json {
  const byStatus: Record<string, string[]> = {}
  const codes: readonly string[] = codesOf(endpoint)
  for (const [code, { status, meaning }] of Object.entries<{ status: number; meaning: string }>(errors))
    if (codes.includes(code)) (byStatus[String(status)] ??= []).push(`\`${code}\`: ${meaning}`)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [
      status,
      {
        description: codes.join('\n\n'),
        content: { 'application/json': { schema: schemas.of(errorBody, 'output') } },
      },
    ]),
  )
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
