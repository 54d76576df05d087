import { type Kysely, type Migration, sql } from 'kysely'

/** The limit of announces that an administrator gave a user. */
export const announceLimits: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table users add column announce_limit integer check (announce_limit between 0 and 1000000)`.execute(
      db,
    )
  },
}
