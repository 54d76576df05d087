import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'

/** A body, and the headers that say what it is. */
export type FuzzedBody = { readonly headers: Readonly<Record<string, string>>; readonly bytes: Buffer | undefined }

/** A request that a document describes, or nearly. */
export type FuzzedRequest = FuzzedBody & {
  /** Method and path of the operation. */
  readonly operation: string
  readonly method: string
  /** Path and query. */
  readonly target: string
}

/** A file of a form, as a service may get it. */
export type Files = fc.Arbitrary<Buffer>

const JSON_TYPE = { 'content-type': 'application/json' }
const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

/** Bytes that are no JSON, or JSON that costs something. */
const RAW_BODIES = [
  '',
  '{',
  '[1',
  'null',
  '"text"',
  '{"a":1}{"b":2}',
  '{"username":"a","username":"b"}',
  '\ufeff{}',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `{"a":"${'x'.repeat(140_000)}"}`,
  '{"a":1e999}',
  '{"\\u0000":"\\ud800"}',
  '{"__proto__":{"role":"admin"},"constructor":1}',
] as const

/** JSON bodies: as they should be, compressed, said to be compressed, of another type, cut short, and none of it. */
export function jsonBodies(values: fc.Arbitrary<unknown>): fc.Arbitrary<FuzzedBody> {
  const json = values.map((value) => Buffer.from(JSON.stringify(value)))
  const plain = (bytes: Buffer): FuzzedBody => ({ headers: JSON_TYPE, bytes })
  return fc.oneof(
    { arbitrary: json.map(plain), weight: 8 },
    { arbitrary: fc.constantFrom(...RAW_BODIES).map((text) => plain(Buffer.from(text))), weight: 1 },
    { arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => plain(Buffer.from(bytes))), weight: 1 },
    { arbitrary: fc.tuple(json, fc.nat(40)).map(([bytes, cut]) => plain(bytes.subarray(0, -cut))), weight: 1 },
    { arbitrary: fc.tuple(json, encodings).map(([bytes, encode]) => encode(bytes)), weight: 2 },
    {
      arbitrary: fc.tuple(json, types).map(([bytes, type]) => ({ headers: { 'content-type': type }, bytes })),
      weight: 1,
    },
    { arbitrary: fc.constant({ headers: {}, bytes: undefined }), weight: 1 },
  )
}

const types = fc.constantFrom(
  'text/plain',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'application/json;;;',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  '/',
)

/** The encoding that is said, and what was really done. */
const encodings = fc
  .record({
    said: fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'identity', 'x', 'gzip, br', ''),
    done: fc.boolean(),
  })
  .map(({ said, done }) => (bytes: Buffer): FuzzedBody => {
    const encoded = done ? (ENCODINGS[said]?.(bytes) ?? bytes) : bytes
    return { headers: { ...JSON_TYPE, 'content-encoding': said }, bytes: encoded }
  })

/** Forms with one file: as they should be, with fields missing, repeated and nested, cut short, and with another boundary. */
export function formBodies(fields: fc.Arbitrary<unknown>, field: string, files: Files): fc.Arbitrary<FuzzedBody> {
  const quirk = fc.constantFrom(
    'none',
    'none',
    'none',
    'none',
    'cut',
    'boundary',
    'no file',
    'two files',
    'nested',
    'named',
  )
  return fc.tuple(fields, files, quirk, fc.nat(500)).map(([value, file, kind, cut]) => {
    const texts: [string, string][] = typeof value === 'object' && value !== null ? entriesOf(value) : []
    const [first] = texts
    if (kind === 'nested' && first) texts.push([`${first[0]}[a][0]`, 'x'], ['__proto__[x]', 'y'])
    const attached = kind === 'no file' ? [] : kind === 'two files' ? [file, file] : [file]
    const filename = kind === 'named' ? '../"\u0000é' : 'x.torrent'
    const bytes = Buffer.concat([
      ...texts.map(([name, text]) => part(`name="${name}"`, Buffer.from(text))),
      ...attached.map((each) => part(`name="${field}"; filename="${filename}"`, each)),
      Buffer.from('--b--\r\n'),
    ])
    const boundary = kind === 'boundary' ? 'other' : 'b'
    return {
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      bytes: kind === 'cut' ? bytes.subarray(0, cut) : bytes,
    }
  })
}

function entriesOf(value: object): [string, string][] {
  return Object.entries(value).map(([name, member]) => [
    name.replaceAll(/[\r\n"]/g, '_'),
    typeof member === 'string' ? member : JSON.stringify(member),
  ])
}

function part(disposition: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ])
}
