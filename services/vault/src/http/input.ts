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
