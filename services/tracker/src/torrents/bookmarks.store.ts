import { lockUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import type { BookmarkStore } from './bookmarks.ts'
import { listedColumns, toListed } from './torrent-rows.store.ts'

/** Bookmarks in Postgres. */
export function createBookmarkStore(db: Db): BookmarkStore {
  return {
    add: (userId, torrentId, at, most) =>
      db.transaction().execute(async (trx) => {
        await lockUser(trx, userId)
        const torrent = await trx
          .selectFrom('torrents')
          .select('id')
          .where('id', '=', torrentId)
          .where('state', '=', 'approved')
          .where('deleted_at', 'is', null)
          .forKeyShare()
          .executeTakeFirst()
        if (torrent === undefined) return 'unknown torrent'
        const { others, own } = await trx
          .selectFrom('bookmarks')
          .select((eb) => [
            eb.fn.countAll<number>().filterWhere('torrent_id', '!=', torrentId).as('others'),
            eb.fn.countAll<number>().filterWhere('torrent_id', '=', torrentId).as('own'),
          ])
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
        if (own > 0) return 'done'
        if (others >= most) return 'full'
        await trx.insertInto('bookmarks').values({ user_id: userId, torrent_id: torrentId, created_at: at }).execute()
        return 'done'
      }),

    remove: async (userId, torrentId) => {
      await db.deleteFrom('bookmarks').where('user_id', '=', userId).where('torrent_id', '=', torrentId).execute()
    },

    among: async (userId, torrentIds) => {
      if (torrentIds.length === 0) return new Set()
      const rows = await db
        .selectFrom('bookmarks')
        .select('torrent_id')
        .where('user_id', '=', userId)
        .where('torrent_id', 'in', torrentIds)
        .execute()
      return new Set(rows.map(({ torrent_id: id }) => id))
    },

    newest: async (userId, limit) => {
      const rows = await listedColumns(db)
        .innerJoin('bookmarks', 'bookmarks.torrent_id', 'torrents.id')
        .select('bookmarks.created_at as bookmarked_at')
        .where('bookmarks.user_id', '=', userId)
        .where('torrents.state', '=', 'approved')
        .where('torrents.deleted_at', 'is', null)
        .orderBy('bookmarks.created_at', 'desc')
        .orderBy('torrents.id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ torrent: toListed(row), at: row.bookmarked_at }))
    },
  }
}
