import { ApiError } from '../api/error.ts'

const MAX_RETRIES = 2

/** Whether a read is repeated that failed: what the server refused, it refuses again. */
export function retryUnlessRefused(failures: number, error: unknown): boolean {
  return failures < MAX_RETRIES && (!(error instanceof ApiError) || error.status >= 500)
}
