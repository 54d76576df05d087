import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { RemovalStore } from './removals.ts'

/**
 * Finds the swarms of users in Postgres.
 *
 * @param recentSeconds longer than the lifetime of a peer
 */
export function createRemovalStore(db: Db, recentSeconds: number): RemovalStore {
  return {
    swarmsOf: async (userId, torrentIds) => {
      const { rows } = await sql<{ info_hash: Buffer }>`
        select distinct info_hash from torrents where id in (
          select torrent_id from user_torrents
          where user_id = ${userId} and last_seen_at > now() - make_interval(secs => ${recentSeconds})
          union all
          select id from unnest(${[...torrentIds]}::uuid[]) as named (id)
        )`.execute(db)
      return rows.map((row) => row.info_hash)
    },
  }
}
