import { createErrorHandler } from '@vault-and-tracker/rest'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'
import { apiError, ERRORS, type ErrorCode } from '../errors.ts'
import { errorBody } from './error-body.ts'

const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  UNAVAILABLE: { 'Retry-After': '5' },
  // A limit of requests says when its window ends; what is under way ends soon.
  RATE_LIMITED: { 'Retry-After': '5' },
  // A body that was refused may still be on its way; the connection is not kept for it.
  PAYLOAD_TOO_LARGE: { Connection: 'close' },
  TOO_SLOW: { Connection: 'close' },
}

/** Answers every error in the tracker's shape. */
export function createErrorAnswer(logger: Logger): ErrorRequestHandler {
  const caused = (code: ErrorCode, message: string) => (cause: unknown) => apiError(code, message, { cause })
  return createErrorHandler<ErrorCode>({
    table: ERRORS,
    present: (error) => ({ body: errorBody(error), headers: HEADERS[error.code] ?? {} }),
    standard: {
      unavailable: caused('UNAVAILABLE', 'The service cannot do this right now. Try again in a moment.'),
      internal: caused('INTERNAL_ERROR', 'Something went wrong on our side.'),
      malformedPath: caused('BAD_REQUEST', 'The path is malformed.'),
      malformedBody: caused('BAD_REQUEST', 'The body is malformed.'),
      bodyTooLarge: caused('PAYLOAD_TOO_LARGE', 'The body is larger than allowed.'),
      bodyNotSupported: caused('UNSUPPORTED_MEDIA_TYPE', 'The body must be UTF-8 and compressed in no unusual way.'),
    },
    logger,
  })
}
