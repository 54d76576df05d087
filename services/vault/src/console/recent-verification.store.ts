import type { Db } from '../db/schema.ts'
import type { RecentStore } from './recent-verification.ts'

/** Entries by number in Postgres. */
export function createEntriesByNumber(db: Db): Pick<RecentStore, 'rowsBetween'> {
  return {
    rowsBetween: (first, last, limit) =>
      db
        .selectFrom('audit')
        .select(['seq', 'id'])
        .where('seq', '>', first)
        .where('seq', '<=', last)
        .orderBy('seq')
        .limit(limit)
        .execute(),
  }
}
