import { ApiError, isError, UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { isPostgresUnavailable } from '@vault-and-tracker/service-kit/postgres'
import { isRedisUnavailable } from '@vault-and-tracker/service-kit/redis'
import type { ErrorRequestHandler } from 'express'
import { type ErrorCode, isErrorCode, presentError } from '../errors.ts'

/** Answers whatever a request failed with, in the one shape. Only what is our fault or a dependency's is logged. */
export function createErrorAnswer(logger: Logger): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error: unknown, request, response, _next) => {
    const { code, message } = explain(error)
    if (code === 'INTERNAL_ERROR') logger.error({ err: error, method: request.method }, 'a request failed')
    // A refusal of ours, such as too many sign-ins at once, is no news.
    if (code === 'UNAVAILABLE' && !(error instanceof ApiError))
      logger.warn({ err: error }, 'a request could not be carried out')
    if (response.headersSent) return void response.destroy()
    const { status, body } = presentError(code, message)
    if (code === 'UNAVAILABLE') response.set('Retry-After', '5')
    // A body that was refused may still be on its way; the connection is not kept for it.
    if (code === 'PAYLOAD_TOO_LARGE') response.set('Connection', 'close')
    response.status(status).json(body)
  }
}

function explain(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof ApiError) {
    const code: unknown = error.code
    if (isErrorCode(code)) return { code, message: error.message }
  }
  if (error instanceof UnavailableError || isPostgresUnavailable(error) || isRedisUnavailable(error))
    return { code: 'UNAVAILABLE', message: 'The service cannot do this right now. Try again in a moment.' }
  return explainParser(error) ?? { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side.' }
}

/** What Express and its body parser refuse, by the types that they document. */
function explainParser(error: unknown): { code: ErrorCode; message: string } | undefined {
  if (!isError(error)) return undefined
  const type = 'type' in error && typeof error.type === 'string' ? error.type : ''
  if (type === 'entity.too.large') return { code: 'PAYLOAD_TOO_LARGE', message: 'The body is larger than allowed.' }
  if (type === 'charset.unsupported' || type === 'encoding.unsupported')
    return { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The body must be UTF-8 and compressed in no unusual way.' }
  if (type.startsWith('entity.') || type.startsWith('request.'))
    return { code: 'BAD_REQUEST', message: 'The body is malformed.' }
  // A path that cannot be percent-decoded.
  if (error.name === 'URIError') return { code: 'BAD_REQUEST', message: 'The path is malformed.' }
  return undefined
}
