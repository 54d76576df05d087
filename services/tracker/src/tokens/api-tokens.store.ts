import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { accountAt } from '../accounts/accounts.store.ts'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { lockUser } from '../db/queries.store.ts'
import type { Db } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { ApiToken, ApiTokenStore, StoredToken } from './api-tokens.ts'
import { SCOPES } from './scopes.ts'

const COLUMNS = [
  'tokens.id as tokenId',
  'tokens.name',
  'tokens.scopes',
  'tokens.created_at as created',
  'tokens.expires_at as expires',
  'tokens.addresses',
  'tokens.last_used_at as lastUsed',
  'tokens.last_used_address as lastAddress',
] as const

type TokenRow = Omit<ApiToken, 'id' | 'name' | 'scopes'> & {
  readonly tokenId: string
  readonly name: string | null
  readonly scopes: readonly string[] | null
}

type StoredRow = TokenRow & { readonly hash: Buffer } & Parameters<typeof accountAt>[0]

/** API tokens in Postgres. */
export function createApiTokenStore(db: Db, clock: Clock): ApiTokenStore {
  const stored = () =>
    db
      .selectFrom('tokens')
      .innerJoin('users', 'users.id', 'tokens.user_id')
      .selectAll('users')
      .select(COLUMNS)
      .select('tokens.hash')
      .where('purpose', '=', 'api')
  const toStored = (row: StoredRow): StoredToken => ({
    token: toToken(row),
    tokenHash: row.hash.toString('hex'),
    owner: accountAt(row, clock.now()),
  })

  return {
    async create({ userId, hash, ...token }, most) {
      try {
        return await db.transaction().execute(async (trx) => {
          await lockUser(trx, userId)
          const { count } = await trx
            .selectFrom('tokens')
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .where('user_id', '=', userId)
            .where('purpose', '=', 'api')
            .executeTakeFirstOrThrow()
          if (count >= most) return 'full'
          await trx
            .insertInto('tokens')
            .values({
              ...{ id: token.id, user_id: userId, hash, purpose: 'api', name: token.name, created_at: token.created },
              ...{ scopes: [...token.scopes], expires_at: token.expires, addresses: [...token.addresses] },
            })
            .execute()
          return 'done'
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === 'tokens_name') return 'taken'
        throw error
      }
    },

    async listBy(userId) {
      const rows = await db
        .selectFrom('tokens')
        .select(COLUMNS)
        .where('user_id', '=', userId)
        .where('purpose', '=', 'api')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
      return rows.map(toToken)
    },

    revoke: (id, { userId, by }) =>
      db.transaction().execute(async (trx) => {
        const revoked = await trx
          .deleteFrom('tokens')
          .where('id', '=', id)
          .where('purpose', '=', 'api')
          .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
          .returning(['user_id as userId', 'announce_key as announceKey', ...COLUMNS])
          .executeTakeFirst()
        if (revoked === undefined || by === undefined) return revoked
        const { name, scopes } = toToken(revoked)
        const owner = await trx
          .selectFrom('users')
          .select(['id', 'username as name'])
          .where('id', '=', revoked.userId)
          .executeTakeFirstOrThrow()
        await recordAdminAction(trx, by, {
          action: 'user.token.revoke',
          target: { type: 'user', ...owner },
          before: { token: name, scopes: scopes.join(', ') },
        })
        await notify(trx, by, [{ to: owner.id, kind: 'token', details: { name } }])
        return revoked
      }),

    async byHashes(hashes) {
      const rows = await stored()
        .where(
          'hash',
          'in',
          hashes.map((hash) => Buffer.from(hash, 'hex')),
        )
        .execute()
      return new Map(rows.map((row) => [row.hash.toString('hex'), toStored(row)]))
    },

    async byIds(ids) {
      const rows = await stored().where('tokens.id', 'in', ids).execute()
      return new Map(rows.map((row) => [row.tokenId, toStored(row)]))
    },
  }
}

function toToken({ tokenId, name, scopes, ...row }: TokenRow): ApiToken {
  const { created, expires, addresses, lastUsed, lastAddress } = row
  return {
    ...{ id: tokenId, name: name ?? '', scopes: SCOPES.filter((scope) => scopes?.includes(scope)) },
    ...{ created, expires, addresses, lastUsed, lastAddress },
  }
}
