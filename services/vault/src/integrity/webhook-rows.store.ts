import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { markOf } from './rows.store.ts'
import type { Sealed, WebhookRow } from './rows.ts'

/** Selects webhooks as `w`. An earlier row that was put back has a code that does not verify. */
export function webhooks(db: Db) {
  return db
    .selectFrom('webhooks as w')
    .select(['w.id', 'w.project_uid as projectUid', 'w.url', 'w.enabled', 'w.revision', 'w.created_at as createdAt'])
    .select(
      sql<Buffer>`case when w.revision >= ${markOf('w.id', sql.lit('webhook'))} then w.code else ''::bytea end`.as(
        'code',
      ),
    )
}

/** Returns all webhooks. */
export async function readWebhooks(db: Db): Promise<readonly Sealed<WebhookRow>[]> {
  return webhooks(db).orderBy('w.id').execute()
}
