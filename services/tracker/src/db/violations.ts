/** Whether a row points at one that is gone, or one that is still pointed at was to be deleted (SQLSTATE 23503). */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503'
}
