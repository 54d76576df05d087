/** A refused request, or a server that could not be reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** Seconds to wait before trying again, if the server said so. */
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

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** An error as a sentence for the reader, with when to try again if the server said so. */
export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong on this page. Reload it.'
  if (error.status === 0) return 'Could not reach the server. Check your connection.'
  if (error.retryAfter === undefined) return error.message
  const what = error.status === 429 ? 'Too many requests.' : error.message
  return `${what} Try again in ${error.retryAfter} ${error.retryAfter === 1 ? 'second' : 'seconds'}.`
}
