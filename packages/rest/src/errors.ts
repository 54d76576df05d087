import { ApiError, isError } from '@vault-and-tracker/service-kit/core/errors'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { ErrorRequestHandler } from 'express'

/** How one service answers errors. */
export type ErrorSurface<Code extends string> = {
  /** Every code the service can answer, with its HTTP status. */
  readonly table: Readonly<Record<Code, { readonly status: number }>>
  /** The body of an error, and headers to set unless the response has them already. */
  readonly present: (error: ApiError<Code>) => {
    readonly body: unknown
    readonly headers?: Readonly<Record<string, string>>
  }
  /** The service's errors for problems outside its handlers. */
  readonly standard: {
    readonly unavailable: (cause: unknown) => ApiError<Code>
    readonly internal: (cause: unknown) => ApiError<Code>
    /** A path that cannot be percent-decoded. */
    readonly malformedPath: (cause: unknown) => ApiError<Code>
    readonly malformedBody: (cause: unknown) => ApiError<Code>
    readonly bodyTooLarge: (cause: unknown) => ApiError<Code>
    readonly bodyNotSupported: (cause: unknown) => ApiError<Code>
  }
  readonly logger: Logger
}

/**
 * Answers every error in the service's format. An error that is not in the error table is logged and answered as internal,
 * without its message.
 */
export function createErrorHandler<Code extends string>(surface: ErrorSurface<Code>): ErrorRequestHandler {
  const { table, logger } = surface
  // Express recognises an error handler by its four parameters.
  return (error: unknown, request, response, _next) => {
    const known = toApiError(error, surface)
    const { status } = table[known.code]
    if (status === 500) logger.error({ err: error, method: request.method, code: known.code }, 'request failed')
    else if (status === 503 && known !== error)
      logger.warn({ err: error, method: request.method, code: known.code }, 'dependency unavailable')
    else if (isError(known.cause)) logger.debug({ reason: reasonOf(known.cause), code: known.code }, 'request refused')
    if (response.headersSent) {
      response.destroy()
      return
    }
    const { body, headers = {} } = surface.present(known)
    for (const [name, value] of Object.entries(headers)) if (!response.hasHeader(name)) response.setHeader(name, value)
    response.status(status).json(body)
  }
}

/** The reason of an error, for the log. The message of a body parser may repeat the body, so only its type is logged. */
function reasonOf(cause: Error): string {
  return 'type' in cause || 'body' in cause ? parserType(cause) : cause.message
}

/** The documented type of a body parser's error. */
function parserType(error: Error): string {
  return 'type' in error && typeof error.type === 'string' ? error.type : ''
}

function toApiError<Code extends string>(
  error: unknown,
  { table, standard }: Pick<ErrorSurface<Code>, 'table' | 'standard'>,
): ApiError<Code> {
  if (error instanceof ApiError && Object.hasOwn(table, String(error.code))) return error as ApiError<Code>
  if (isUnavailable(error)) return standard.unavailable(error)
  if (!isError(error)) return standard.internal(error)
  // The router could not decode a segment of the path.
  if (error.name === 'URIError') return standard.malformedPath(error)
  const type = parserType(error)
  if (type === 'entity.too.large') return standard.bodyTooLarge(error)
  if (type === 'charset.unsupported' || type === 'encoding.unsupported') return standard.bodyNotSupported(error)
  // A body that does not have its declared encoding has a status and no type.
  if (type.startsWith('entity.') || type.startsWith('request.') || ('status' in error && error.status === 400))
    return standard.malformedBody(error)
  return standard.internal(error)
}
