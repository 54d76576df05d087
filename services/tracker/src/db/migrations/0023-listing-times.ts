import { type Kysely, type Migration, sql } from 'kysely'

/** Whether a torrent was ever approved. The first approval dates it; existing torrents keep their dates. */
export const listingTimes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table torrents add column was_approved boolean not null default true`.execute(db)
  },
}
