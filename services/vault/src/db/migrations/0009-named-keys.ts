import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Names the keys of a project. Keys of earlier releases are named `default`, and their codes stay valid. `not_after` is
 * when a key stops being valid for any reason, `expires_at` the expiry that it was given. `revoked_at` is only shown,
 * so no code covers it.
 */
export const namedKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table project_keys
      add column name text collate "C" not null default 'default',
      add column expires_at timestamptz,
      add column revoked_at timestamptz`.execute(db)
  },
}
