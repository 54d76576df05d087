import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { type Expression, sql } from 'kysely'
import { MAX_EXACT_TOTAL } from '../pagination.ts'
import type { Db } from './schema.ts'

/** Counts the rows of a query for `totalOf`, up to `MAX_EXACT_TOTAL + 1`. */
export async function countForTotal(db: Db, query: { limit(rows: number): Expression<unknown> }): Promise<number> {
  const { rows } = await sql<{ counted: number }>`
    select count(*) as counted from ${query.limit(MAX_EXACT_TOTAL + 1)} as found`.execute(db)
  return rows[0]?.counted ?? 0
}

/** Escapes `%`, `_` and `\` for a LIKE pattern. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** Whether an error is a foreign key violation (SQLSTATE 23503): the referenced row is missing, or still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === '23503'
}
