import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { MAX_NOTES, type ReviewStore, type UploaderRecord } from './reviews.ts'

const NOTES = {
  torrent: { table: 'torrent_notes', column: 'torrent_id', subjects: 'torrents' },
  user: { table: 'user_notes', column: 'user_id', subjects: 'users' },
} as const

/** Notes on torrents and users, and records of uploaders in Postgres. */
export function createReviewStore(db: Db): ReviewStore {
  return {
    async notes({ type, id }) {
      const { table, column } = NOTES[type]
      const { rows } = await sql<{ id: string; text: string; created: Date; authorId: string; username: string }>`
        select notes.id, text, notes.created_at as created, author_id as "authorId", username
        from ${sql.table(table)} as notes join users as author on author.id = author_id
        where ${sql.ref(`notes.${column}`)} = ${id}
        order by notes.created_at desc, notes.id desc limit ${MAX_NOTES}`.execute(db)
      return rows.map(({ authorId, username, ...note }) => ({ ...note, author: { id: authorId, username } }))
    },

    addNote: ({ id, about, authorId, text, at, maxNotes }) =>
      db.transaction().execute(async (trx) => {
        const { table, column, subjects } = NOTES[about.type]
        // Locked, so that concurrent notes are counted too.
        await trx.selectFrom(subjects).select('id').where('id', '=', about.id).forNoKeyUpdate().execute()
        const added = await sql`
          insert into ${sql.table(table)} (id, ${sql.ref(column)}, author_id, text, created_at)
          select ${id}, ${about.id}, ${authorId}, ${text}, ${at}
          where (select count(*) from ${sql.table(table)} where ${sql.ref(column)} = ${about.id}) < ${maxNotes}`.execute(
          trx,
        )
        return added.numAffectedRows === 1n
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
