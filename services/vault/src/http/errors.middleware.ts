import { createErrorHandler } from '@vault-and-tracker/rest'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'
import { apiError, ERRORS, type ErrorCode } from '../errors.ts'
import { errorBody } from './error-body.ts'

const RETRY_SOON = { 'Retry-After': '1' }

/** Answers every error in the vault's shape. */
export function createErrorAnswer(logger: Logger): ErrorRequestHandler {
  const caused = (code: ErrorCode, message?: string) => (cause: unknown) => apiError(code, message, { cause })
  return createErrorHandler<ErrorCode>({
    table: ERRORS,
    // Nothing that is unavailable stays so for long, as far as the vault can tell.
    present: (error) => ({ body: errorBody(error), headers: error.code === 'unavailable' ? RETRY_SOON : {} }),
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
