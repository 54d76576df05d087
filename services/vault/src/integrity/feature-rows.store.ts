import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { markOf } from './rows.store.ts'
import type { Sealed, WebhookRow } from './rows.ts'

/** Selects sessions as `s`. A session that ended and was put back has a code that does not verify. */
export function sessions(db: Db) {
  return db
    .selectFrom('administrator_sessions as s')
    .select(['s.id', 's.token_hash as tokenHash', 's.subject', 's.name', 's.roles', 's.settings'])
    .select(['s.created_at as createdAt', 's.expires_at as expiresAt'])
    .select(
      sql<Buffer>`case when ${markOf('s.id', sql.lit('session'))} is null then s.code else ''::bytea end`.as('code'),
    )
}

/** Selects reference rules as `r`. A rule that was removed and put back has a code that does not verify. */
export function referenceRules(db: Db) {
  return db
    .selectFrom('reference_rules as r')
    .innerJoin('projects as p', 'p.uid', 'r.project_uid')
    .innerJoin('projects as q', 'q.uid', 'r.reader_uid')
    .select([
      'r.id',
      'r.project_uid as projectUid',
      'p.name as project',
      'r.reader_uid as readerUid',
      'q.name as reader',
    ])
    .select(['r.reader_envs as readerEnvs', 'r.envs', 'r.keys', 'r.created_at as createdAt'])
    .select(
      sql<Buffer>`case when ${markOf('r.id', sql.lit('reference-rule'))} = 1 then r.code else ''::bytea end`.as('code'),
    )
}

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
