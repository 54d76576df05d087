/** What the server refused, or that it could not be reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** Whole seconds after which to try again, where the server said so. */
  readonly retryAfter: number | undefined

  constructor(problem: { status: number; code: string; message: string; retryAfter?: number | undefined }) {
    super(problem.message)
    this.name = 'ApiError'
    this.status = problem.status
    this.code = problem.code
    this.retryAfter = problem.retryAfter
  }

  /** The field that a message such as `password: must be longer` is about. */
  get field(): string | undefined {
    return /^([A-Za-z][\w.]*): /.exec(this.message)?.[1]
  }

  /** The message without the field. */
  get sentence(): string {
    const text = this.message.replace(/^[A-Za-z][\w.]*: /, '')
    return text.slice(0, 1).toUpperCase() + text.slice(1)
  }
}

/** Whether a request was refused because the session has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** What happened, in a sentence for the reader, and when to try again where the server said so. */
export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something in this page failed. Reload it.'
  if (error.status === 0) return 'The server was not reached. Check the connection.'
  if (error.retryAfter === undefined) return error.message
  const what = error.status === 429 ? 'Too many requests.' : error.message
  return `${what} Try again in ${error.retryAfter} ${error.retryAfter === 1 ? 'second' : 'seconds'}.`
}
