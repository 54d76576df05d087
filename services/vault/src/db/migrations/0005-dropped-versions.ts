import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Drops the versions of a secret that are older than those it keeps. The run-time role may not delete versions otherwise,
 * and so never the current one.
 */
export const droppedVersions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create function drop_old_versions(secret uuid, kept integer) returns void
      language sql security definer set search_path = public, pg_temp
      as $$
        delete from secret_versions v using secrets s
        where s.id = secret and v.secret_id = s.id and v.version <= s.version - greatest(kept, 1)
      $$`.execute(db)
    await sql`revoke all on function drop_old_versions(uuid, integer) from public`.execute(db)
  },
}
