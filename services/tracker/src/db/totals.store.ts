import { type Expression, sql } from 'kysely'
import { MAX_EXACT_TOTAL } from '../lists/total.ts'
import type { Db } from './schema.ts'

/** Counts the rows of a query for `totalOf`, up to `MAX_EXACT_TOTAL + 1`. */
export async function countForTotal(db: Db, query: { limit(rows: number): Expression<unknown> }): Promise<number> {
  const { rows } = await sql<{ counted: number }>`
    select count(*) as counted from ${query.limit(MAX_EXACT_TOTAL + 1)} as found`.execute(db)
  return rows[0]?.counted ?? 0
}
