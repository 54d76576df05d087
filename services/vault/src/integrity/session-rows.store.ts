import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { markOf } from './rows.store.ts'

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
