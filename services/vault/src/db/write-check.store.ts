import { sql } from 'kysely'
import type { Db } from '../database.ts'

/**
 * Runs the service's writes without rows: Postgres checks the rights of the role and that the database accepts writes, and
 * no number of an audit entry is used up.
 *
 * @throws the error of Postgres if a write would fail
 */
export async function checkWrites(db: Db): Promise<void> {
  await sql`
    with entry as (
      insert into audit (id, project_uid, project_id, action, env, requested_at, ip, detail)
      select id, project_uid, project_id, action, env, requested_at, ip, detail from audit where false
    ), secret as (
      insert into secrets (id, project_uid, env, key, version, updated_at, note, owner, expires_at)
      select id, project_uid, env, key, version, updated_at, note, owner, expires_at from secrets where false
    ), version as (
      insert into secret_versions (secret_id, version, dek_v, blob, created_at, actor)
      select secret_id, version, dek_v, blob, created_at, actor from secret_versions where false
    ), data_key as (
      update project_deks set encryptions = encryptions where false
    )
    select from projects p left join project_keys k on k.project_uid = p.uid limit 0`.execute(db)
}

/** How often the disk is written to at most. */
const EVERY_MS = 5_000

/**
 * Checks that the database's disk has space. `checkWrites` needs none and a row may fit into an existing page, so this
 * sorts a megabyte in a temporary file.
 *
 * @returns a check, which fails with the error of Postgres if the disk is full
 */
export function createDiskCheck(db: Db): () => Promise<void> {
  let last: { readonly at: number; readonly result: Promise<void> } | undefined

  const write = (): Promise<void> =>
    db.transaction().execute(async (trx) => {
      await sql`set local work_mem = '64kB'`.execute(trx)
      await sql`select count(*) from (
        select repeat(md5(n::text), 16) as filler from generate_series(1, 2000) as n order by 1 offset 0
      ) as sorted`.execute(trx)
    })

  return () => {
    if (last === undefined || performance.now() - last.at >= EVERY_MS) last = { at: performance.now(), result: write() }
    return last.result
  }
}
