import { types } from 'node:util'

/**
 * An error whose code and message are safe to show to any client. The code is part of the API and comes from the error table
 * of the service; the message may change. Any other error is answered as internal, without its message.
 */
export class ApiError<Code extends string = string> extends Error {
  override readonly name = 'ApiError'
  readonly code: Code

  /**
   * @param code a code of the service's error table
   * @param message what happened and what to do about it, without secrets and input
   * @param options `cause` is for the log only
   */
  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/**
 * Functions that create and recognise the errors of one service.
 *
 * @param table every code of the service; `meaning` is the default message
 */
export function createErrors<Code extends string>(
  table: Readonly<Record<Code, { readonly meaning: string }>>,
): {
  apiError: (code: Code, message?: string, options?: { cause?: unknown }) => ApiError<Code>
  isApiError: (error: unknown) => error is ApiError<Code>
} {
  return {
    apiError: (code, message, options) => new ApiError(code, message ?? table[code].meaning, options),
    isApiError: (error): error is ApiError<Code> =>
      error instanceof ApiError && Object.hasOwn(table, String(error.code)),
  }
}

type Dependency = 'postgres' | 'redis' | 'key service'

/** A dependency did not respond. It is unknown whether a write was carried out. Both services answer 503. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly dependency: Dependency

  constructor(dependency: Dependency, options?: { cause?: unknown }) {
    super(`${dependency} is unavailable`, options)
    this.dependency = dependency
  }
}

/**
 * Whether a caught value is an error. `instanceof` misses errors of another realm, such as those of Node's core in code that
 * a test runner evaluates in its own context.
 */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value)
}

/** The `code` of a system or driver error, such as `ECONNREFUSED` or a SQLSTATE; undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The message of an error. The AggregateError of several attempts to connect has an empty message. */
export function messageOf(error: unknown): string {
  if (!isError(error)) return 'unknown error'
  if (error.message === '' && 'errors' in error && Array.isArray(error.errors))
    return error.errors.map(messageOf).join('; ')
  return error.message === '' ? error.name : error.message
}
