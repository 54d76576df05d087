import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { MAX_NOTES, type ReviewStore, type UploaderRecord } from './reviews.ts'

/** Notes on torrents and records of uploaders in Postgres. */
export function createReviewStore(db: Db): ReviewStore {
  return {
    async notes(torrentId) {
      const rows = await db
        .selectFrom('torrent_notes')
        .innerJoin('users as author', 'author.id', 'author_id')
        .select(['torrent_notes.id', 'text', 'torrent_notes.created_at as created', 'author_id', 'username'])
        .where('torrent_id', '=', torrentId)
        .orderBy('torrent_notes.created_at', 'desc')
        .orderBy('torrent_notes.id', 'desc')
        .limit(MAX_NOTES)
        .execute()
      return rows.map(({ author_id, username, ...note }) => ({ ...note, author: { id: author_id, username } }))
    },

    addNote: ({ id, torrentId, authorId, text, at, maxNotes }) =>
      db.transaction().execute(async (trx) => {
        // Locked, so that concurrent notes are counted too.
        await trx.selectFrom('torrents').select('id').where('id', '=', torrentId).forNoKeyUpdate().execute()
        const notes = await trx.selectFrom('torrent_notes').select('id').where('torrent_id', '=', torrentId).execute()
        if (notes.length >= maxNotes) return false
        await trx
          .insertInto('torrent_notes')
          .values({ id, torrent_id: torrentId, author_id: authorId, text, created_at: at })
          .execute()
        return true
      }),

    async recordOf(userId) {
      const { rows } = await sql<UploaderRecord>`
        select users.id, username, users.created_at as created, approved::integer, pending::integer,
          rejected::integer, deleted::integer, warnings::integer
        from users
          cross join lateral (
            select count(*) filter (where state = 'approved') as approved,
              count(*) filter (where state = 'pending') as pending,
              count(*) filter (where state = 'rejected') as rejected
            from torrents where uploader_id = users.id and deleted_at is null
          ) as kept
          cross join lateral (
            select count(*) as deleted from torrents where uploader_id = users.id and deleted_at is not null
          ) as removed
          cross join lateral (select count(*) as warnings from warnings where user_id = users.id) as warned
        where users.id = ${userId}`.execute(db)
      return rows[0]
    },
  }
}
