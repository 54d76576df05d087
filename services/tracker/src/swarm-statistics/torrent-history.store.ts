import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { TorrentHistoryStore } from './torrent-history.ts'

/** The counts of peers of each torrent, in Postgres. */
export function createTorrentHistoryStore(db: Db): TorrentHistoryStore {
  return {
    read: (torrentId) =>
      db
        .selectFrom('torrent_history')
        .select(['last_slot as lastSlot', 'seeders', 'leechers'])
        .where('torrent_id', '=', torrentId)
        .executeTakeFirst(),

    async sample({ slot, after, limit, keep }) {
      const added = (column: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
        excluded.${column} || array_fill(0, array[least(excluded.last_slot - history.last_slot - 1, ${keep}::integer)])
        || history.${column})[1:${keep}::integer]`
      const { rows } = await sql<{ last: string | null; found: number }>`
        with part as materialized (
          select torrent_id, seeders, leechers from torrent_stats
          where (seeders > 0 or leechers > 0) and listed_in is not null
            and torrent_id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
          order by torrent_id limit ${limit}
        ),
        written as (
          insert into torrent_history as history (torrent_id, last_slot, seeders, leechers)
          select torrent_id, ${slot}, array[seeders], array[leechers] from part
          on conflict (torrent_id) do update set last_slot = excluded.last_slot,
            seeders = ${added(sql`seeders`)}, leechers = ${added(sql`leechers`)}
          where history.last_slot < excluded.last_slot
        )
        select (select torrent_id from part order by torrent_id desc limit 1) as last,
          (select count(*) from part) as found`.execute(db)
      const [part] = rows
      return part !== undefined && part.found === limit ? (part.last ?? undefined) : undefined
    },

    async prune(slot) {
      await db.deleteFrom('torrent_history').where('last_slot', '<', slot).execute()
    },
  }
}
