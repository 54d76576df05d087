import { isError, UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { isPostgresUnavailable } from '@vault-and-tracker/service-kit/postgres'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import type { z } from 'zod'
import { apiError, isApiError, presentApiError } from './errors.ts'
import { parseStrictJson } from './requests/strict-json.ts'

const MAX_BODY = '512kb'
const NO_BODY = Buffer.alloc(0)

// Whatever the content type says: the digest covers the bytes. Compressed bodies are refused, since a digest of the
// inflated bytes would not be one of what was received.
const rawBody: RequestHandler = express.raw({ type: () => true, limit: MAX_BODY, inflate: false })

/**
 * The bytes of the body as received, empty when there is none.
 *
 * @throws payload_too_large, unsupported_media_type, invalid_request for a body that was cut short
 */
export function readBody(request: Request, response: Response): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
  if (chunked === undefined && (length === undefined || length === '0')) return Promise.resolve(NO_BODY)
  return new Promise((resolve, reject) => {
    rawBody(request, response, (error?: unknown) => {
      if (error !== undefined) reject(bodyRefusal(error))
      else resolve(Buffer.isBuffer(request.body) ? request.body : NO_BODY)
    })
  })
}

function bodyRefusal(error: unknown): Error {
  const type = isError(error) && 'type' in error ? error.type : undefined
  if (type === 'entity.too.large') return apiError('payload_too_large', { cause: error })
  if (type === 'encoding.unsupported') return apiError('unsupported_media_type', { cause: error })
  return apiError('invalid_request', { message: 'the body could not be read', cause: error })
}

/**
 * Reads a JSON body in a given shape. No body at all counts as `{}` where the shape allows it.
 *
 * @throws unsupported_media_type, invalid_request naming the member that is wrong
 */
export function jsonBody<Schema extends z.ZodType>(request: Request, body: Buffer, schema: Schema): z.infer<Schema> {
  if (body.length > 0 && !/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw apiError('unsupported_media_type')
  return inShape(schema, body.length === 0 ? {} : parseStrictJson(body))
}

/** @throws invalid_request naming the first member or parameter that is not in shape */
export function inShape<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  const result = schema.safeParse(input, { reportInput: false })
  if (result.success) return result.data
  const [issue] = result.error.issues
  const name = issue?.path.map(String).join('.') ?? ''
  const what =
    issue?.code === 'unrecognized_keys' ? 'the body has an unknown member' : (issue?.message ?? 'is malformed')
  throw apiError('invalid_request', { message: name === '' ? what : `${name}: ${what}` })
}

/**
 * One path's handlers by method. Any other method, HEAD and OPTIONS included, is refused with the list of those there
 * are: a HEAD served as a GET would read secrets without a trace in its signature.
 */
export function methods(handlers: Readonly<Record<string, RequestHandler>>): RequestHandler {
  const allowed = Object.keys(handlers).join(', ')
  const byMethod = new Map(Object.entries(handlers))
  return (request, response, next) => {
    const handler = byMethod.get(request.method)
    if (handler !== undefined) return handler(request, response, next)
    response.setHeader('Allow', allowed)
    throw apiError('method_not_allowed')
  }
}

/** One segment of the path, decoded. */
export function pathPart(request: Request, name: string): string {
  const part = request.params[name]
  return typeof part === 'string' ? part : ''
}

/** Answers 200 with JSON that is already text, header and body in one write. */
export function sendJson(response: Response, text: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** Headers of every answer: nothing of the vault is ever kept by a cache or guessed a type for. */
export const standardHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  next()
}

/** Answers a path nobody else knew. */
export const unknownPath: RequestHandler = () => {
  throw apiError('not_found')
}

/** Answers every error in the one shape, and logs those that are ours. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const refused = toRefusal(error)
    const { status, body } = presentApiError(refused)
    if (status >= 500)
      logger.error({ err: error, method: request.method }, `answered ${String(status)} ${refused.code}`)
    else if (isError(refused.cause)) logger.debug({ reason: refused.cause.message }, `refused: ${refused.code}`)
    if (response.headersSent) response.destroy()
    else response.status(status).json(body)
  }
}

function toRefusal(error: unknown) {
  if (isApiError(error)) return error
  if (error instanceof UnavailableError || isPostgresUnavailable(error) || isRedisUnavailable(error))
    return apiError('unavailable', { cause: error })
  // The router could not decode a segment of the path: no such thing.
  if (isError(error) && error.name === 'URIError') return apiError('not_found', { cause: error })
  return apiError('internal_error', { cause: error })
}
