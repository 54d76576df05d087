import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { onPage, readPage } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { WarningStore } from './warnings.ts'

/** Warnings in Postgres. */
export function createWarningStore(db: Db): WarningStore {
  return {
    create: ({ id, to, text }, by) =>
      db.transaction().execute(async (trx) => {
        await trx
          .insertInto('warnings')
          .values({ id, user_id: to.id, author_id: by.actorId, text, created_at: by.at })
          .execute()
        const target = { type: 'user', id: to.id, name: to.username } as const
        await recordAdminAction(trx, by, { action: 'user.warn', target, after: { text } })
        await notify(trx, by, [{ to: to.id, kind: 'warning', details: { reason: text } }])
      }),

    async list(userId, page) {
      const found = db.selectFrom('warnings').where('user_id', '=', userId)
      const rows = found
        .innerJoin('users as author', 'author.id', 'warnings.author_id')
        .select(['warnings.id', 'text', 'warnings.created_at', 'author_id', 'author.username'])
        .orderBy('warnings.created_at', 'desc')
        .orderBy('warnings.id', 'desc')
        .$call(onPage(page))
      const { items, ...rest } = await readPage(db, page, rows, found.select('warnings.id'))
      return {
        ...rest,
        items: items.map(({ id, text, created_at, author_id, username }) => ({
          id,
          text,
          created: created_at,
          author: { id: author_id, username },
        })),
      }
    },

    async count(userId) {
      const { count } = await db
        .selectFrom('warnings')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      return count
    },
  }
}
