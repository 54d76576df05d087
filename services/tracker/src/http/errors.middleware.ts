import { createErrorHandler } from '@vault-and-tracker/rest'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'
import { z } from 'zod'
import { apiError, ERRORS, type ErrorCode } from '../errors.ts'

/** The body of every error. */
export const errorBodySchema = z
  .object({ error: z.object({ code: z.enum(Object.keys(ERRORS)), message: z.string() }) })
  .meta({ id: 'Error' })

const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  UNAVAILABLE: { 'Retry-After': '5' },
  // Rate limits set their own value; limits on concurrent work use this one.
  RATE_LIMITED: { 'Retry-After': '5' },
  // The client may still be sending the refused body, so the connection is closed.
  PAYLOAD_TOO_LARGE: { Connection: 'close' },
  TOO_SLOW: { Connection: 'close' },
}

type Presented = { readonly code: ErrorCode; readonly message: string }

/**
 * Presents every error, in the tracker's format by default.
 *
 * @param format `statuses` that differ from those of the error table, and the body of an error
 */
export function createErrorAnswer(
  logger: Logger,
  format: {
    readonly statuses?: Partial<Record<ErrorCode, { readonly status: number }>>
    readonly bodyOf: (error: Presented) => unknown
  } = { bodyOf: ({ code, message }) => ({ error: { code, message } }) },
): ErrorRequestHandler {
  const caused = (code: ErrorCode, message: string) => (cause: unknown) => apiError(code, message, { cause })
  return createErrorHandler<ErrorCode>({
    table: { ...ERRORS, ...format.statuses },
    present: (error) => ({ body: format.bodyOf(error), headers: HEADERS[error.code] ?? {} }),
    standard: {
      unavailable: caused('UNAVAILABLE', 'The service is temporarily unavailable. Try again in a moment.'),
      internal: caused('INTERNAL_ERROR', 'Something went wrong on our side.'),
      malformedPath: caused('BAD_REQUEST', 'The path is malformed.'),
      malformedBody: caused('BAD_REQUEST', 'The body is malformed.'),
      bodyTooLarge: caused('PAYLOAD_TOO_LARGE', 'The body is larger than allowed.'),
      bodyNotSupported: caused('UNSUPPORTED_MEDIA_TYPE', 'The body must be UTF-8, with a supported content encoding.'),
    },
    logger,
  })
}
