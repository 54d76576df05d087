import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { TorrentFile } from '../torrents/torrent-file.ts'
import type { Unit3dStore } from './unit3d.ts'

/** The numbers of torrents in Postgres. */
export function createUnit3dStore(db: Db): Unit3dStore {
  return {
    async idOf(number) {
      const row = await db
        .selectFrom('torrent_numbers')
        .select('torrent_id')
        .where('number', '=', number)
        .executeTakeFirst()
      return row?.torrent_id
    },

    async numbered(ids, files) {
      const { rows } = await sql<{ id: string; number: number; files: readonly TorrentFile[] }>`
        select torrent_id as id, number, coalesce((
          select json_agg(json_build_object('path', left(path, 300), 'size', size) order by position)
          from torrent_file_list as file
          where file.torrent_id = torrent_numbers.torrent_id and position < ${files}
        ), '[]') as files
        from torrent_numbers where torrent_id = any(${[...ids]}::uuid[])
      `.execute(db)
      return new Map(rows.map(({ id, ...row }) => [id, row]))
    },
  }
}
