import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { PeerUser, TorrentPeersStore } from './torrent-peers.ts'

/** Torrents and their users in Postgres. */
export function createTorrentPeersStore(db: Db): TorrentPeersStore {
  return {
    torrent: async (id) => {
      if (!isId(id)) return undefined
      return db
        .selectFrom('torrents')
        .innerJoin('torrent_stats', 'torrent_stats.torrent_id', 'torrents.id')
        .select(['torrents.id', 'name', 'size', 'info_hash as swarm', 'completed'])
        .where('torrents.id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
    },

    users: async (torrentId, owners) => {
      if (owners.length === 0) return new Map<string, PeerUser>()
      // The owner of peers is the second half of the user's id.
      const { rows } = await sql<PeerUser & { owner: Buffer }>`
          select substring(uuid_send(users.id) from 9) as owner, users.id, username, bytes_left as left
          from user_torrents join users on users.id = user_id
          where torrent_id = ${torrentId} and substring(uuid_send(user_id) from 9) = any(${owners}::bytea[])`.execute(
        db,
      )
      return new Map(rows.map(({ owner, ...user }) => [owner.toString('hex'), user]))
    },
  }
}
