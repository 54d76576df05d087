import { isMain } from '@vault-and-tracker/service-kit/command'
import { z } from 'zod'
import { accountApi } from './accounts/account-api.routes.ts'
import { manageUsersApi } from './accounts/manage-users.routes.ts'
import { categoryApi } from './categories/categories.routes.ts'
import { ERRORS, type ErrorCode } from './errors.ts'
import { type Endpoint, plain } from './rest/endpoint.routes.ts'
import { siteApi } from './site-settings/site-settings.routes.ts'
import { moderationApi } from './torrents/moderation.routes.ts'
import { torrentApi } from './torrents/torrent-api.routes.ts'

type Json = Record<string, unknown>

/** Every endpoint of the REST surface, as data. */
export const restApi: readonly Endpoint[] = [
  ...Object.values(accountApi),
  ...Object.values(categoryApi),
  ...Object.values(torrentApi),
  ...Object.values(manageUsersApi),
  ...Object.values(moderationApi),
  ...Object.values(siteApi),
]

/**
 * The OpenAPI 3.1 document of the REST surface, made of the very schemas that requests are parsed with. It is kept in
 * `openapi.json`; `node dist/openapi.js > openapi.json` writes it anew.
 */
export function openApiDocument(): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const endpoint of restApi) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tracker',
      version: '1',
      description:
        'The REST API of a private BitTorrent tracker. Announce, scrape and Torznab have formats of their own.',
    },
    paths,
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([code, { meaning }]) => [
          code,
          { description: meaning, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        ]),
      ),
      schemas: { Error: errorSchema(), ...sorted(components) },
    },
  }
}

/** The codes that an endpoint can answer: its own, and those of whatever guards it. */
export function errorsOf(endpoint: Endpoint): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(endpoint.errors)
  const { params, query, body } = endpoint
  if (params !== plain.params || query !== plain.query || body !== plain.body) codes.add('BAD_REQUEST')
  if (endpoint.access !== 'anyone') codes.add('UNAUTHORIZED').add('FORBIDDEN')
  if (endpoint.method !== 'GET') codes.add('FORBIDDEN')
  if (endpoint.body !== plain.body) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE')
  codes.add('RATE_LIMITED').add('INTERNAL_ERROR').add('UNAVAILABLE')
  const order = Object.keys(ERRORS)
  return [...codes].toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
}

function operation(endpoint: Endpoint, components: Json): Json {
  const parameters = [
    ...parametersIn('path', endpoint.params, components),
    ...parametersIn('query', endpoint.query, components),
  ]
  return {
    summary: endpoint.summary,
    'x-access': endpoint.access,
    'x-limit': endpoint.limit,
    ...(endpoint.access !== 'anyone' && { security: [{ session: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.body !== plain.body && { requestBody: requestBody(endpoint, components) }),
    responses: { [endpoint.status]: success(endpoint, components), ...failures(endpoint) },
  }
}

function requestBody(endpoint: Endpoint, components: Json): Json {
  const schema = schemaOf(endpoint.body, 'input', components)
  if (endpoint.upload === undefined) return { required: true, content: { 'application/json': { schema } } }
  const { field } = endpoint.upload
  const properties = {
    [field]: { type: 'string', contentMediaType: 'application/octet-stream' },
    ...object(schema['properties']),
  }
  const required = [field, ...(Array.isArray(schema['required']) ? schema['required'].map(String) : [])]
  return { required: true, content: { 'multipart/form-data': { schema: { type: 'object', properties, required } } } }
}

function success(endpoint: Endpoint, components: Json): Json {
  if (endpoint.answerType !== undefined) return { description: 'The file', content: { [endpoint.answerType]: {} } }
  if (endpoint.status === 204) return { description: 'Done' }
  const schema = schemaOf(endpoint.answer, 'output', components)
  return { description: 'Done', content: { 'application/json': { schema } } }
}

/** One response per status; where several codes share a status, the one that is more to the point stands for both. */
function failures(endpoint: Endpoint): Json {
  return Object.fromEntries(
    errorsOf(endpoint).map((code) => [ERRORS[code].status, { $ref: `#/components/responses/${code}` }]),
  )
}

function parametersIn(place: 'path' | 'query', schema: z.ZodType, components: Json): readonly Json[] {
  if (schema === plain.query) return []
  const { properties, required } = schemaOf(schema, 'input', components)
  return Object.entries(object(properties)).map(([name, value]) => {
    const { description, ...rest } = object(value)
    const needed = place === 'path' || (Array.isArray(required) && required.includes(name))
    return {
      name,
      in: place,
      ...(needed && { required: true }),
      ...(typeof description === 'string' && { description }),
      schema: rest,
    }
  })
}

/** JSON Schema of a zod schema; named parts go to the components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $defs, ...own } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // A number in a query is text to the parser and a number to whoever reads the document.
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern
      if (io === 'output') delete jsonSchema.additionalProperties
    },
  })
  // The document itself says which version of JSON Schema it uses.
  delete own.$schema
  for (const [name, part] of Object.entries($defs ?? {})) components[name] = withRefs(part)
  if (own.id === undefined) return withRefs(own)
  components[own.id] = withRefs(own)
  return { $ref: `#/components/schemas/${own.id}` }
}

/** The same schema with references into the components, and without the names that made them. */
function withRefs(schema: unknown): Json {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  )
  return object(JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')))
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function sorted(record: Json): Json {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { enum: Object.keys(ERRORS) }, message: { type: 'string' } },
      },
    },
  }
}

if (isMain(import.meta)) process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
