import { lockUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import type { TokenStore } from './tokens.ts'

/** Tokens of feeds in Postgres. */
export function createTokenStore(db: Db): TokenStore {
  return {
    create: ({ id, userId, savedSearch, created, hash }, most) =>
      db.transaction().execute(async (trx) => {
        await lockUser(trx, userId)
        const { count } = await trx
          .selectFrom('tokens')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .where('purpose', '=', 'feed')
          .executeTakeFirstOrThrow()
        if (count >= most) return 'full'
        if (savedSearch !== null) {
          const found = await trx
            .selectFrom('saved_searches')
            .select('id')
            .where('id', '=', savedSearch)
            .where('user_id', '=', userId)
            .forKeyShare()
            .executeTakeFirst()
          if (found === undefined) return 'unknown saved search'
        }
        await trx
          .insertInto('tokens')
          .values({
            ...{ id, user_id: userId, hash, purpose: 'feed', saved_search_id: savedSearch },
            ...{ created_at: created, last_used_at: null },
          })
          .execute()
        return 'done'
      }),

    listBy: (userId) =>
      db
        .selectFrom('tokens')
        .select(['id', 'saved_search_id as savedSearch', 'created_at as created', 'last_used_at as lastUsed'])
        .where('user_id', '=', userId)
        .where('purpose', '=', 'feed')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),

    revoke: async (id, userId) => {
      const { numDeletedRows } = await db
        .deleteFrom('tokens')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('purpose', '=', 'feed')
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    byHashes: async (hashes) => {
      const rows = await db
        .selectFrom('tokens')
        .select(['id', 'user_id as userId', 'hash', 'saved_search_id as savedSearch'])
        .select(['created_at as created', 'last_used_at as lastUsed'])
        .where('purpose', '=', 'feed')
        .where(
          'hash',
          'in',
          hashes.map((hash) => Buffer.from(hash, 'hex')),
        )
        .execute()
      return new Map(rows.map(({ hash, ...token }) => [hash.toString('hex'), token]))
    },
  }
}
