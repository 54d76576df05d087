import { errorCode } from '@vault-and-tracker/service-kit/core/errors'

/** Whether an error is a foreign key violation (SQLSTATE 23503): the referenced row is missing, or still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === '23503'
}
