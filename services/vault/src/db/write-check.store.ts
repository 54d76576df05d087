import { sql } from 'kysely'
import type { Db } from './schema.ts'

/**
 * Writes no row where the work writes rows: Postgres checks the rights of the role and that the database takes writes,
 * and no number of an audit entry is used up.
 *
 * @throws the error of Postgres when a write would fail
 */
export async function checkWrites(db: Db): Promise<void> {
  await sql`
    with entry as (
      insert into audit (id, project_uid, project_id, action, env, requested_at, ip, detail)
      select id, project_uid, project_id, action, env, requested_at, ip, detail from audit where false
    ), secret as (
      insert into secrets (id, project_uid, env, key, version, updated_at)
      select id, project_uid, env, key, version, updated_at from secrets where false
    ), version as (
      insert into secret_versions (secret_id, version, dek_v, blob, created_at)
      select secret_id, version, dek_v, blob, created_at from secret_versions where false
    ), data_key as (
      update project_deks set encryptions = encryptions where false
    )
    select from projects p left join project_keys k on k.project_uid = p.uid limit 0`.execute(db)
}
