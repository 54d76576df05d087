import { createErrorHandler } from '@vault-and-tracker/rest'
import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'
import { z } from 'zod'
import { apiError, ERRORS, type ErrorCode, retryAfterOf } from '../errors.ts'

/** The body of every error, for the OpenAPI document. */
export const errorBodySchema = z
  .strictObject({ error: z.enum(Object.keys(ERRORS)), message: z.string().optional() })
  .meta({ id: 'Error' })

/** Returns the body of an error. */
export function errorBody({ code, message }: ApiError<ErrorCode>): z.output<typeof errorBodySchema> {
  return ERRORS[code].bare ? { error: code } : { error: code, message }
}

function headersOf(error: ApiError<ErrorCode>): Record<string, string> {
  const { code, message } = error
  if (code === 'unavailable') return { 'Retry-After': String(retryAfterOf(error)) }
  // Its body has no message.
  if (code === 'invalid_signature' && message !== ERRORS[code].meaning)
    return { 'WWW-Authenticate': `Signature error="${code}", error_description="${message}"` }
  return {}
}

/** Answers every error. */
export function createErrorAnswer(logger: Logger): ErrorRequestHandler {
  const caused = (code: ErrorCode, message?: string) => (cause: unknown) => apiError(code, message, { cause })
  return createErrorHandler<ErrorCode>({
    table: ERRORS,
    present: (error) => ({ body: errorBody(error), headers: headersOf(error) }),
    standard: {
      unavailable: caused('unavailable'),
      internal: caused('internal_error'),
      malformedPath: caused('not_found'),
      malformedBody: caused('invalid_request', 'The body could not be read.'),
      bodyTooLarge: caused('payload_too_large'),
      bodyNotSupported: caused('unsupported_media_type'),
    },
    logger,
  })
}
