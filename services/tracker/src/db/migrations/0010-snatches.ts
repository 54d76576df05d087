import { type Kysely, type Migration, sql } from 'kysely'

const STATEMENTS = [
  'alter table user_torrents add leeched boolean not null default false',
  'update user_torrents set leeched = true where completed_at is not null or downloaded_actual > 0 or bytes_left > 0',
]

/** A user who completes a torrent has snatched it when something of it was left before. */
export const snatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
