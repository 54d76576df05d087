import fc from 'fast-check'
import { type Files, type FuzzedBody, type FuzzedRequest, formBodies, jsonBodies } from './fuzz-bodies.ts'
import { type Schema, valuesOf, wildText } from './fuzz-values.ts'

export type { FuzzedRequest } from './fuzz-bodies.ts'
export { problemOf, sendFuzzed } from './fuzz-send.ts'

/** What requests are made of. */
export type FuzzOptions = {
  /** An OpenAPI document. */
  readonly document: { readonly paths: object; readonly components: object }
  /** Values of path parameters that name something. */
  readonly ids: fc.Arbitrary<string>
  /** The files of forms. */
  readonly files: Files
  /** The names of headers that the service reads, besides those that every service reads. */
  readonly headers: readonly string[]
}

type Parameter = { readonly name: string; readonly in: string; readonly schema: Schema }
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const HEADERS = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-type',
  'content-encoding',
  'cookie',
  'expect',
  'forwarded',
  'if-modified-since',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'sec-fetch-site',
  'te',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
]

/**
 * Requests for every operation of an OpenAPI document, with every parameter, member and header of it as it should be and
 * as it should not. A new operation is among them by itself.
 */
export function fuzzedRequests(options: FuzzOptions): fc.Arbitrary<FuzzedRequest> {
  const components = options.document.components as { readonly schemas?: Readonly<Record<string, Schema>> }
  const resolve = (reference: string): Schema => components.schemas?.[reference.replace(/^.*\//, '')] ?? {}
  const operations = Object.entries(options.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) =>
      requestsOf(method.toUpperCase(), path, operation, { ...options, resolve }),
    ),
  )
  return fc.oneof(...operations)
}

function requestsOf(
  method: string,
  path: string,
  { parameters = [], requestBody }: Operation,
  { ids, files, headers, resolve }: FuzzOptions & { readonly resolve: (reference: string) => Schema },
): fc.Arbitrary<FuzzedRequest> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const segment = fc.oneof(
    { arbitrary: ids, weight: 3 },
    { arbitrary: wildText.map(encoded), weight: 1 },
    { arbitrary: fc.constantFrom('%', '%zz', '%E0%A4', '%00', '.', '..', '%2F', ''), weight: 1 },
  )
  const target = fc
    .tuple(fc.array(segment, { minLength: names.length, maxLength: names.length }), queries(parameters, resolve))
    .map(([values, query]) => names.reduce((text, name, i) => text.replace(`{${name}}`, values[i] ?? ''), path) + query)
  return fc
    .record({ target, body: bodies(requestBody, files, resolve), more: someHeaders([...HEADERS, ...headers]) })
    .map(({ target, body, more }) => ({
      operation: `${method} ${path}`,
      method,
      target,
      headers: { ...more, ...body.headers },
      bytes: body.bytes,
    }))
}

function bodies(
  requestBody: Operation['requestBody'],
  files: Files,
  resolve: (reference: string) => Schema,
): fc.Arbitrary<FuzzedBody> {
  const none: FuzzedBody = { headers: {}, bytes: undefined }
  if (requestBody === undefined)
    return fc.oneof({ arbitrary: fc.constant(none), weight: 4 }, { arbitrary: jsonBodies(fc.constant({})), weight: 1 })
  const form = requestBody.content['multipart/form-data']?.schema
  if (form === undefined) return jsonBodies(valuesOf(requestBody.content['application/json']?.schema ?? {}, resolve))
  const properties = (form['properties'] ?? {}) as Readonly<Record<string, Schema>>
  const isFile = (schema: Schema) => schema['contentMediaType'] !== undefined
  const field = Object.entries(properties).find(([, schema]) => isFile(schema))?.[0] ?? 'file'
  const texts = Object.fromEntries(Object.entries(properties).filter(([, schema]) => !isFile(schema)))
  const fields = valuesOf({ type: 'object', properties: texts }, resolve)
  return fc.oneof(
    { arbitrary: formBodies(fields, field, files), weight: 9 },
    { arbitrary: jsonBodies(fields), weight: 1 },
  )
}

/** Queries with some of the parameters: as the schema says, wild, twice, in brackets, badly escaped. */
function queries(parameters: readonly Parameter[], resolve: (reference: string) => Schema): fc.Arbitrary<string> {
  const known = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => pairsOf(name, valuesOf(schema, resolve)))
  const stray = fc.constantFrom('', '', '', 'unknown=1', '%zz', '%ff=1', '&&=', '__proto__=1', 'a[b]=c', '?')
  return fc.tuple(fc.tuple(...known), stray).map(([pairs, more]) => {
    const text = [...pairs.flat(), more].filter((pair) => pair !== '').join('&')
    return text === '' ? '' : `?${text}`
  })
}

function pairsOf(name: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<readonly string[]> {
  return fc
    .tuple(values, fc.constantFrom('absent', 'absent', 'once', 'once', 'once', 'twice', 'brackets', 'bare', 'raw'))
    .map(([value, form]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      const pair = `${name}=${encoded(text)}`
      switch (form) {
        case 'absent':
          return []
        case 'twice':
          return [pair, pair]
        case 'brackets':
          return [`${name}[]=1`]
        case 'bare':
          return [name]
        case 'raw':
          return [`${name}=%`]
        case 'once':
          return [pair]
      }
    })
}

/** Mostly none, so that what is behind the headers is reached. */
function someHeaders(names: readonly string[]): fc.Arbitrary<Readonly<Record<string, string>>> {
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '*',
      '*/*;q=x',
      'gzip;q=0',
      'br',
      '"',
      '"a", W/"b"',
      'null',
      'cross-site',
      'same-origin',
      '::1',
      'unknown',
    ),
    fc.constantFrom(
      'session=',
      'session=x; session=y',
      'bytes=0-',
      'Bearer x',
      'Basic Og==',
      '127.0.0.1, [::1]:99999',
      'for="_x"',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
    fc.string({ maxLength: 6_000, minLength: 6_000 }),
  )
  const printable = value.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').trim())
  return fc.oneof(
    { arbitrary: fc.constant({}), weight: 2 },
    { arbitrary: fc.dictionary(fc.constantFrom(...names), printable, { maxKeys: 3 }), weight: 1 },
  )
}

/** Percent-encoded UTF-8, which has no half surrogates. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}
