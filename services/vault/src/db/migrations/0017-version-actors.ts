import { type Kysely, type Migration, sql } from 'kysely'

/** Who stored a version. Older versions have none; the audit log may still name them. */
export const versionActors: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table secret_versions add column actor text`.execute(db)
  },
}
