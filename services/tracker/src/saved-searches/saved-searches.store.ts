import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { isActiveUser, lockUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { SavedSearchStore } from './saved-searches.ts'

const COLUMNS = ['id', 'name', 'filters', 'notify', 'created_at as created', 'visited_at as visited'] as const

/** Saved searches in Postgres. */
export function createSavedSearchStore(db: Db): SavedSearchStore {
  return {
    create: (userId, { id, name, filters, notify, created, visited }, most) =>
      unlessTaken(
        db.transaction().execute(async (trx) => {
          await lockUser(trx, userId)
          const { count } = await trx
            .selectFrom('saved_searches')
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .where('user_id', '=', userId)
            .executeTakeFirstOrThrow()
          if (count >= most) return 'full'
          await trx
            .insertInto('saved_searches')
            .values({
              ...{ id, user_id: userId, name, filters, notify },
              ...{ created_at: created, visited_at: visited, checked_at: created },
            })
            .execute()
          return 'done'
        }),
      ),

    change: (id, userId, { name, filters, notify }, at) =>
      unlessTaken(
        db
          .updateTable('saved_searches')
          .set((eb) => ({
            name: name ?? eb.ref('name'),
            filters: filters ?? eb.ref('filters'),
            notify: notify ?? eb.ref('notify'),
            // Earlier matches are no news.
            checked_at: notify === true || filters !== undefined ? at : eb.ref('checked_at'),
          }))
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .returning(COLUMNS)
          .executeTakeFirst(),
      ),

    remove: (id, userId) =>
      db.transaction().execute(async (trx) => {
        const own = trx.selectFrom('saved_searches').select('id').where('id', '=', id).where('user_id', '=', userId)
        if ((await own.forUpdate().executeTakeFirst()) === undefined) return undefined
        const feeds = await trx
          .deleteFrom('tokens')
          .where('saved_search_id', '=', id)
          .returning('announce_key')
          .execute()
        await trx.deleteFrom('saved_searches').where('id', '=', id).execute()
        return feeds.map(({ announce_key: key }) => key)
      }),

    visit: async (id, userId, at) => {
      const { numUpdatedRows } = await db
        .updateTable('saved_searches')
        .set({ visited_at: at })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    listBy: (userId) =>
      db
        .selectFrom('saved_searches')
        .select(COLUMNS)
        .where('user_id', '=', userId)
        .orderBy((eb) => eb.fn('lower', ['name']))
        .execute(),

    find: (id, userId) =>
      db
        .selectFrom('saved_searches')
        .select(COLUMNS)
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst(),

    unchecked: (since, limit) =>
      db
        .selectFrom('saved_searches')
        .innerJoin('users', 'users.id', 'user_id')
        .select(['saved_searches.id', 'name', 'filters', 'user_id as userId', 'checked_at as checked'])
        .where('notify', '=', true)
        .where('checked_at', '<', since)
        .where(isActiveUser)
        .orderBy('checked_at')
        .limit(limit)
        .execute(),

    recordCheck: ({ id, name, userId, checked }, { until, at }, recent) =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('saved_searches')
          .set({ checked_at: until })
          .where('id', '=', id)
          .where('checked_at', '=', checked)
          .executeTakeFirst()
        if (numUpdatedRows === 0n || recent === undefined || recent.newest === null) return
        await notify(trx, { actorId: '', at }, [
          {
            ...{ to: userId, kind: 'search', topic: id, torrentId: recent.newest, times: recent.count },
            details: { search: { id, name } },
          },
        ])
      }),
  }
}

/** Reports a violation of the unique index of names (SQLSTATE 23505). */
async function unlessTaken<T>(work: Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work
  } catch (error) {
    if (errorCode(error) === '23505') return 'name taken'
    throw error
  }
}
