import { type Agent, request as httpRequest } from 'node:http'
import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { type Schema, valuesOf, wildText } from './fuzz-values.ts'

export { damaged, damages } from './fuzz-text.ts'

/** A request that matches an OpenAPI document, or nearly. */
export type FuzzedRequest = FuzzedBody & {
  /** Method and path of the operation. */
  readonly operation: string
  readonly method: string
  /** Path and query. */
  readonly target: string
}

type FuzzedBody = { readonly headers: Readonly<Record<string, string>>; readonly bytes: Buffer | undefined }

/** The parts of requests. */
export type FuzzOptions = {
  /** An OpenAPI document. */
  readonly document: { readonly paths: object; readonly components: object }
  /** Values for path parameters. */
  readonly ids: fc.Arbitrary<string>
  /** The files of forms. */
  readonly files: fc.Arbitrary<Buffer>
  /** The names of headers that the service reads, in addition to those that every service reads. */
  readonly headers: readonly string[]
}

type Resolve = (reference: string) => Schema
type Parameter = { readonly name: string; readonly in: string; readonly schema: Schema }
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const HEADERS =
  'accept accept-encoding authorization content-type content-encoding cookie expect forwarded if-modified-since if-none-match origin range referer sec-fetch-site te user-agent x-forwarded-for x-forwarded-proto'

/** An arbitrary that draws from others according to their weights. */
function weighted<T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

/**
 * Requests for every operation of an OpenAPI document. Each parameter, member and header is valid most of the time and
 * invalid now and then. New operations are included automatically.
 */
export function fuzzedRequests({ document, ids, files, headers }: FuzzOptions): fc.Arbitrary<FuzzedRequest> {
  const { schemas = {} } = document.components as { readonly schemas?: Readonly<Record<string, Schema>> }
  const resolve: Resolve = (reference) => schemas[reference.replace(/^.*\//, '')] ?? {}
  const segment = weighted(
    [3, ids],
    [1, wildText.map(encoded)],
    [1, fc.constantFrom('%', '%zz', '%E0%A4', '%00', '.', '..', '%2F', '')],
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([name, { parameters = [], requestBody }]) => {
      const method = name.toUpperCase()
      const inPath = path.match(/\{\w+\}/g) ?? []
      const parts = {
        segments: fc.array(segment, { minLength: inPath.length, maxLength: inPath.length }),
        query: queries(parameters, resolve),
        body: bodies(requestBody?.content, files, resolve),
        more: someHeaders([...HEADERS.split(' '), ...headers]),
      }
      return fc.record(parts).map(({ segments, query, body, more }) => ({
        operation: `${method} ${path}`,
        method,
        target: inPath.reduce((text, parameter, i) => text.replace(parameter, segments[i] ?? ''), path) + query,
        headers: { ...more, ...body.headers },
        bytes: body.bytes,
      }))
    }),
  )
  return fc.oneof(...operations)
}

function bodies(
  content: Readonly<Record<string, { readonly schema: Schema }>> | undefined,
  files: fc.Arbitrary<Buffer>,
  resolve: Resolve,
): fc.Arbitrary<FuzzedBody> {
  if (content === undefined) return weighted([4, fc.constant(NO_BODY)], [1, jsonBodies(fc.constant({}))])
  const form = content['multipart/form-data']?.schema
  if (form === undefined) return jsonBodies(valuesOf(content['application/json']?.schema ?? {}, resolve))
  const properties = Object.entries((form['properties'] ?? {}) as Readonly<Record<string, Schema>>)
  const isFile = (schema: Schema) => schema['contentMediaType'] !== undefined
  const field = properties.find(([, schema]) => isFile(schema))?.[0] ?? 'file'
  const texts = Object.fromEntries(properties.filter(([, schema]) => !isFile(schema)))
  const fields = valuesOf({ type: 'object', properties: texts }, resolve)
  return weighted([9, formBodies(fields, field, files)], [1, jsonBodies(fields)])
}

const NO_BODY: FuzzedBody = { headers: {}, bytes: undefined }
const JSON_TYPE = { 'content-type': 'application/json' }
const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

/** Text that is not JSON, and JSON that is expensive or ambiguous. */
const RAW_BODIES = [
  ...['', '{', '[1', 'null', '"text"', '{"a":1}{"b":2}', '{"username":"a","username":"b"}', '\ufeff{}', '{"a":1e999}'],
  ...[`${'['.repeat(20_000)}${']'.repeat(20_000)}`, `{"a":"${'x'.repeat(140_000)}"}`, '{"\\u0000":"\\ud800"}'],
  '{"__proto__":{"role":"admin"},"constructor":1}',
]

const TYPES = [
  ...['text/plain', 'application/json; charset=latin1', 'application/json; charset=utf-16', 'application/json;;;', '/'],
  ...['application/json; charset=nonsense', 'multipart/form-data', 'application/x-www-form-urlencoded'],
]

/** The declared content encoding, and whether the body really has it. */
const encodings = fc.record({
  declared: fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'identity', 'x', 'gzip, br', ''),
  isEncoded: fc.boolean(),
})

/** JSON bodies: valid, compressed, declared as compressed, of another type, truncated, or missing. */
function jsonBodies(values: fc.Arbitrary<unknown>): fc.Arbitrary<FuzzedBody> {
  const json = values.map((value) => Buffer.from(JSON.stringify(value)))
  const plain = (bytes: Buffer): FuzzedBody => ({ headers: JSON_TYPE, bytes })
  return weighted(
    [8, json.map(plain)],
    [1, fc.constantFrom(...RAW_BODIES).map((text) => plain(Buffer.from(text)))],
    [1, fc.uint8Array({ maxLength: 64 }).map((bytes) => plain(Buffer.from(bytes)))],
    [1, fc.tuple(json, fc.nat(40)).map(([bytes, cut]) => plain(bytes.subarray(0, -cut)))],
    [
      2,
      fc.tuple(json, encodings).map(([bytes, { declared, isEncoded }]) => ({
        headers: { ...JSON_TYPE, 'content-encoding': declared },
        bytes: isEncoded ? (ENCODERS[declared]?.(bytes) ?? bytes) : bytes,
      })),
    ],
    [
      1,
      fc.tuple(json, fc.constantFrom(...TYPES)).map(([bytes, type]) => ({ headers: { 'content-type': type }, bytes })),
    ],
    [1, fc.constant(NO_BODY)],
  )
}

const QUIRKS = ['none', 'none', 'none', 'none', 'cut', 'boundary', 'no file', 'two files', 'nested', 'named'] as const

/** Forms with one file: valid, with missing, repeated or nested fields, truncated, or with another boundary. */
function formBodies(
  fields: fc.Arbitrary<unknown>,
  field: string,
  files: fc.Arbitrary<Buffer>,
): fc.Arbitrary<FuzzedBody> {
  return fc.tuple(fields, files, fc.constantFrom(...QUIRKS), fc.nat(500)).map(([value, file, quirk, cut]) => {
    const texts = Object.entries(value ?? {}).map(([name, member]): [string, string] => [
      name.replaceAll(/[\r\n"]/g, '_'),
      typeof member === 'string' ? member : JSON.stringify(member),
    ])
    const [first] = texts
    if (quirk === 'nested' && first) texts.push([`${first[0]}[a][0]`, 'x'], ['__proto__[x]', 'y'])
    const attached = quirk === 'no file' ? [] : quirk === 'two files' ? [file, file] : [file]
    const filename = quirk === 'named' ? '../"\u0000é' : 'x.torrent'
    const bytes = Buffer.concat([
      ...texts.map(([name, text]) => part(`name="${name}"`, Buffer.from(text))),
      ...attached.map((each) => part(`name="${field}"; filename="${filename}"`, each)),
      Buffer.from('--b--\r\n'),
    ])
    return {
      headers: { 'content-type': `multipart/form-data; boundary=${quirk === 'boundary' ? 'other' : 'b'}` },
      bytes: quirk === 'cut' ? bytes.subarray(0, cut) : bytes,
    }
  })
}

function part(disposition: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ])
}

/** Queries with some of the parameters: valid, wild, repeated, in brackets, or badly escaped. */
function queries(parameters: readonly Parameter[], resolve: Resolve): fc.Arbitrary<string> {
  const forms = fc.constantFrom('absent', 'absent', 'once', 'once', 'once', 'twice', 'brackets', 'bare', 'raw')
  const known = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) =>
      fc.tuple(valuesOf(schema, resolve), forms).map(([value, form]): readonly string[] => {
        const pair = `${name}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`
        const written = {
          absent: [],
          once: [pair],
          twice: [pair, pair],
          brackets: [`${name}[]=1`],
          bare: [name],
          raw: [`${name}=%`],
        }
        return written[form]
      }),
    )
  const stray = fc.constantFrom('', '', '', 'unknown=1', '%zz', '%ff=1', '&&=', '__proto__=1', 'a[b]=c', '?')
  return fc.tuple(fc.tuple(...known), stray).map(([pairs, more]) => {
    const text = [...pairs.flat(), more].filter((pair) => pair !== '').join('&')
    return text === '' ? '' : `?${text}`
  })
}

const HEADER_VALUES = [
  ...['', '*', '*/*;q=x', 'gzip;q=0', 'br', '"', '"a", W/"b"', 'null', 'cross-site', 'same-origin', '::1', 'unknown'],
  ...['session=', 'session=x; session=y', 'bytes=0-', 'Bearer x', 'Basic Og==', '127.0.0.1, [::1]:99999', 'for="_x"'],
]

/** Mostly none, so that requests get past the checks of headers. */
function someHeaders(names: readonly string[]): fc.Arbitrary<Readonly<Record<string, string>>> {
  const value = fc.oneof(
    fc.constantFrom(...HEADER_VALUES),
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
    fc.string({ maxLength: 6_000, minLength: 6_000 }),
  )
  const printable = value.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').trim())
  return weighted([2, fc.constant({})], [1, fc.dictionary(fc.constantFrom(...names), printable, { maxKeys: 3 })])
}

/** Percent-encoded UTF-8, without lone surrogates. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

type FuzzedAnswer = { readonly status: number; readonly text: string }

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
}

/** A request without an answer after this time hangs. */
const HANG_MS = 30_000

/**
 * Sends a request.
 *
 * @param own headers that replace fuzzed ones, such as those of a session
 * @throws Error if there is no answer, or if its content encoding is wrong
 */
export function sendFuzzed(
  url: string,
  { method, target, headers, bytes }: FuzzedRequest,
  own: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<FuzzedAnswer> {
  const { hostname, port } = new URL(url)
  const options = { agent, hostname, port, method, path: target, signal: AbortSignal.timeout(HANG_MS) }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { ...options, headers: { ...headers, ...own, 'content-length': bytes?.length ?? 0 } },
      (response) => {
        response
          .toArray()
          .then((chunks: Buffer[]) => {
            const body = Buffer.concat(chunks)
            const decode = body.length === 0 ? undefined : DECODERS[response.headers['content-encoding'] ?? '']
            return { status: response.statusCode ?? 0, text: (decode?.(body) ?? body).toString() }
          })
          .then(resolve, reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

/** Texts of schemas and of errors in our own code, which are useless to clients. */
const RAW_TEXTS =
  /Invalid input|Invalid option|Invalid string|Unrecognized key|expected [a-z]+, received|Too (?:small|big):|ZodError|TypeError|Cannot read prop|undefined|\[object|invalid input syntax|violates|    at /

/** The problem of an answer, if any. */
export function problemOf({ status, text }: FuzzedAnswer): string | undefined {
  if (status >= 500 || status < 200) return `status ${String(status)}`
  const [raw] = status >= 400 ? (RAW_TEXTS.exec(text) ?? []) : []
  return raw === undefined ? undefined : `contains ${raw}`
}
