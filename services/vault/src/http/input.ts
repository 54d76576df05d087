import { runMiddleware } from '@vault-and-tracker/rest'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { apiError } from '../errors.ts'
import { parseStrictJson } from '../json/strict-json.ts'

const MAX_BODY = '512kb'
const NO_BODY = Buffer.alloc(0)

// Whatever the content type says: the digest covers the bytes. Compressed bodies are refused, since a digest of the
// inflated bytes would not be one of what was received.
const rawBody: RequestHandler = express.raw({ type: () => true, limit: MAX_BODY, inflate: false })

/**
 * The bytes of the body as received, empty when there is none. They are read once and kept with the request.
 *
 * @throws the body parser's error for a body that is too large, compressed or cut short
 */
export async function readBody(request: Request, response: Response): Promise<Buffer> {
  if (Buffer.isBuffer(request.body)) return request.body
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
  if (chunked === undefined && (length === undefined || length === '0')) return NO_BODY
  await runMiddleware(rawBody, request, response)
  return Buffer.isBuffer(request.body) ? request.body : NO_BODY
}

/**
 * The JSON in a body. No body at all counts as `{}`.
 *
 * @throws ApiError unsupported_media_type, invalid_request
 */
export function parseJsonBody(request: Request, body: Buffer): unknown {
  if (body.length === 0) return {}
  if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw apiError('unsupported_media_type')
  return parseStrictJson(body)
}

/**
 * Reads the query of a request target: every parameter is one well-formed string.
 *
 * `a=1&a=2`, `a[x]=1`, a broken percent-escape and an escape that is not UTF-8 are refused instead of guessed at.
 * Unknown parameters are ignored.
 *
 * @param target the request target as received, for example `/v1/secrets?env=staging`
 * @param names the parameters the endpoint knows
 * @returns the value of each one that is there
 * @throws ApiError invalid_request naming the parameter
 */
export function readQuery<Name extends string>(target: string, names: readonly Name[]): Partial<Record<Name, string>> {
  const start = target.indexOf('?')
  if (start === -1) return {}
  const found = new Map<string, string>()
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1))
    if (found.has(name)) throw apiError('invalid_request', 'A query parameter occurs twice.')
    if (names.some((known) => name.startsWith(`${known}[`)))
      throw apiError('invalid_request', 'A query parameter is one string, without brackets.')
    found.set(name, value)
  }
  const known: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = found.get(name)
    if (value !== undefined) known[name] = value
  }
  return known
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw apiError('invalid_request', 'The query has a malformed percent-escape.')
  }
}
