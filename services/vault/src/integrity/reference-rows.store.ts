import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { markOf } from './rows.store.ts'

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
