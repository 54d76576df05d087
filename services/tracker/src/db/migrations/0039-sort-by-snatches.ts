import { type Kysely, type Migration, sql } from 'kysely'

/** Lists by the number of snatches. Only a finished download changes it, but each change of a row is in all its indexes. */
export const sortBySnatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index torrent_stats_completed on torrent_stats (listed_in, completed desc, torrent_id desc)
      where listed_in is not null`.execute(db)
  },
}
