import { types } from 'node:util'

/**
 * An error whose code and message are safe to show to any client.
 *
 * The code is API and comes from a closed union that each service keeps in one table; the message is prose and may
 * change. Everything that is not an ApiError is answered as an internal error, without a word of what it said.
 */
export class ApiError<Code extends string = string> extends Error {
  override readonly name = 'ApiError'
  readonly code: Code

  /**
   * @param code a code of the service's error table
   * @param message what happened and what to do about it, without secrets and without the offending input
   * @param options `cause` is kept for the log and never shown
   */
  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/**
 * The functions that make and recognise the errors of one service.
 *
 * @param table every code the service can answer; `meaning` is the message where none is given
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

/** What a service cannot work without. */
type Dependency = 'postgres' | 'redis' | 'key service'

/** A dependency (Postgres, Redis, the service of the vault's keys) did not answer; whether a write was carried out is not known. Both services answer it 503. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly dependency: Dependency

  constructor(dependency: Dependency, options?: { cause?: unknown }) {
    super(`${dependency} is unavailable`, options)
    this.dependency = dependency
  }
}

/**
 * Whether a caught value is an error, wherever it was made: `instanceof` misses errors of another realm, such as those
 * Node's core raises in code that a test runner evaluates in a context of its own.
 */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value)
}

/** The `code` of a system or driver error, such as `ECONNREFUSED` or a SQLSTATE; undefined where there is none. */
export function errorCode(error: unknown): string | undefined {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The message of an error. An AggregateError, of several attempts to connect, has none of its own. */
export function messageOf(error: unknown): string {
  if (!isError(error)) return 'unknown error'
  if (error.message === '' && 'errors' in error && Array.isArray(error.errors))
    return error.errors.map(messageOf).join('; ')
  return error.message === '' ? error.name : error.message
}
