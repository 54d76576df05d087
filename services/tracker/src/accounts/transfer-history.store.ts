import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { TransferDays } from './transfer-history.ts'

/** Daily transfers in Postgres, as written by the accounting. */
export function createTransferDays(db: Db): TransferDays {
  return {
    since: (userId, day) =>
      db
        .selectFrom('user_days')
        .select(['uploaded', 'downloaded', 'uploaded_actual as uploadedActual'])
        .select(['downloaded_actual as downloadedActual', sql<string>`day::text`.as('day')])
        .where('user_id', '=', userId)
        .where('day', '>=', day)
        .orderBy('day')
        .execute(),
  }
}
