import { errorCode } from '@vault-and-tracker/service-kit/errors'

/** Whether a row points at one that is gone, or one that is still pointed at was to be deleted (SQLSTATE 23503). */
export function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === '23503'
}
