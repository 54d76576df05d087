import type { Transaction } from 'kysely'
import { hasSavedSearch, lockUser } from '../db/queries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import type { OwnedToken, TokenStore } from './tokens.ts'

/** Tokens of feeds in Postgres. */
export function createTokenStore(db: Db): TokenStore {
  /** The tokens of feeds, without those of a category that was deleted with all others. */
  const feeds = () =>
    db
      .selectFrom('tokens')
      .leftJoin('categories', 'categories.id', 'tokens.category_id')
      .select(['tokens.id', 'tokens.user_id as userId', 'tokens.hash', 'tokens.saved_search_id as savedSearch'])
      .select(['categories.slug as category', 'tokens.created_at as created', 'tokens.last_used_at as lastUsed'])
      .where('tokens.purpose', '=', 'feed')
      .where('categories.deleted_at', 'is', null)

  return {
    create: ({ id, userId, savedSearch, category, created, hash }, most) =>
      db.transaction().execute(async (trx) => {
        await lockUser(trx, userId)
        const { count } = await trx
          .selectFrom('tokens')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .where('purpose', '=', 'feed')
          .executeTakeFirstOrThrow()
        if (count >= most) return 'full'
        if (!(await hasSavedSearch(trx, userId, savedSearch))) return 'unknown list'
        const categoryId = category === null ? null : await categoryOf(trx, category)
        if (categoryId === undefined) return 'unknown list'
        await trx
          .insertInto('tokens')
          .values({
            ...{ id, user_id: userId, hash, purpose: 'feed', saved_search_id: savedSearch, category_id: categoryId },
            ...{ created_at: created, last_used_at: null },
          })
          .execute()
        return 'done'
      }),

    listBy: async (userId) => {
      const rows = await feeds()
        .where('tokens.user_id', '=', userId)
        .orderBy('tokens.created_at', 'desc')
        .orderBy('tokens.id', 'desc')
        .execute()
      return rows.map(({ id, savedSearch, category, created, lastUsed }) => ({
        ...{ id, savedSearch, category, created, lastUsed },
      }))
    },

    revoke: (id, userId) =>
      db
        .deleteFrom('tokens')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('purpose', '=', 'feed')
        .returning('announce_key as announceKey')
        .executeTakeFirst(),

    byHashes: async (hashes) => {
      const rows = await feeds()
        .where(
          'tokens.hash',
          'in',
          hashes.map((hash) => Buffer.from(hash, 'hex')),
        )
        .execute()
      return new Map(rows.map(toOwned).map((token) => [token.tokenHash, token]))
    },

    byIds: async (ids) => {
      const rows = await feeds().where('tokens.id', 'in', ids).execute()
      return new Map(rows.map(toOwned).map((token) => [token.id, token]))
    },
  }
}

function toOwned({ hash, ...token }: Omit<OwnedToken, 'tokenHash'> & { readonly hash: Buffer }): OwnedToken {
  return { ...token, tokenHash: hash.toString('hex') }
}

/** The id of a category, which stays until the end of the transaction. */
async function categoryOf(trx: Transaction<Schema>, slug: string): Promise<string | undefined> {
  const found = await trx
    .selectFrom('categories')
    .select('id')
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst()
  return found?.id
}
