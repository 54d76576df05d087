import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import type { Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import { type Factor, type FactorStore, type Holder, MAX_FACTORS } from './factors.ts'
import type { SecurityKey } from './security-keys.ts'

/** Second factors in Postgres. */
export function createFactorStore(db: Db): FactorStore {
  const list = (userId: string, connection = db): Promise<Factor[]> =>
    connection
      .selectFrom('second_factors')
      .select(['id', 'kind', 'name', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
      .where('user_id', '=', userId)
      .orderBy('id')
      .execute()

  return {
    list: (userId) => list(userId),

    securityKeys: async (userId) => {
      const rows = await db
        .selectFrom('second_factors')
        .select(['credential_id', 'public_key', 'counter', 'transports'])
        .where('user_id', '=', userId)
        .where('kind', '=', 'security-key')
        .execute()
      return rows.flatMap(toSecurityKey)
    },

    totpSecret: async (userId) => {
      const row = await db
        .selectFrom('second_factors')
        .select('secret')
        .where('user_id', '=', userId)
        .where('kind', '=', 'totp')
        .executeTakeFirst()
      return row?.secret ?? undefined
    },

    countRecoveryCodes: async (userId) => {
      const { codes } = await db
        .selectFrom('recovery_codes')
        .select((eb) => eb.fn.countAll<number>().as('codes'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      return codes
    },

    add: async (holder, factor, codeHashes) => {
      try {
        return await db.transaction().execute(async (trx) => {
          if (!(await lock(trx, holder))) return undefined
          const existing = await list(holder.id, trx)
          if (existing.length >= MAX_FACTORS) return undefined
          const { id, name, createdAt } = factor
          const isFirst = existing.length === 0
          await trx
            .insertInto('second_factors')
            .values({
              ...{ id, user_id: holder.id, name, created_at: createdAt },
              ...('secret' in factor
                ? { kind: 'totp', secret: factor.secret, last_step: factor.lastStep }
                : {
                    kind: 'security-key',
                    credential_id: Buffer.from(factor.credentialId, 'base64url'),
                    public_key: factor.publicKey,
                    counter: factor.counter,
                    transports: factor.transports,
                  }),
            })
            .execute()
          if (isFirst) await replaceCodes(trx, holder.id, codeHashes)
          return { sessionEpoch: await endSessions(trx, holder.id), isFirst }
        })
      } catch (error) {
        if (violatedUniqueConstraint(error) === undefined) throw error
        return undefined
      }
    },

    remove: (holder, id, keepOne) =>
      db.transaction().execute(async (trx) => {
        if (!(await lock(trx, holder))) return undefined
        const others = (await list(holder.id, trx)).filter((factor) => factor.id !== id)
        if (keepOne && others.length === 0) return undefined
        await trx.deleteFrom('second_factors').where('id', '=', id).where('user_id', '=', holder.id).execute()
        if (others.length === 0) await replaceCodes(trx, holder.id, [])
        return { sessionEpoch: await endSessions(trx, holder.id), isLast: others.length === 0 }
      }),

    removeAll: (userId, at, by) =>
      db.transaction().execute(async (trx) => {
        const user = await trx
          .updateTable('users')
          .set((eb) => ({ session_epoch: eb('session_epoch', '+', 1) }))
          .where('id', '=', userId)
          .where((eb) => eb.exists(eb.selectFrom('second_factors').where('user_id', '=', userId)))
          .returning('username')
          .executeTakeFirst()
        if (user === undefined) return false
        await trx.deleteFrom('second_factors').where('user_id', '=', userId).execute()
        await replaceCodes(trx, userId, [])
        const target = { type: 'user', id: userId, name: user.username } as const
        await recordAdminAction(trx, by, { action: 'user.factors.remove', target })
        await notify(trx, { actorId: by?.actorId ?? '', at }, [{ to: userId, kind: 'second-factor' }])
        return true
      }),

    replaceRecoveryCodes: (holder, codeHashes) =>
      db.transaction().execute(async (trx) => {
        if (!(await lock(trx, holder)) || (await list(holder.id, trx)).length === 0) return false
        await replaceCodes(trx, holder.id, codeHashes)
        return true
      }),

    useStep: async (userId, step, at) => {
      const used = await db
        .updateTable('second_factors')
        .set({ last_step: step, last_used_at: at })
        .where('user_id', '=', userId)
        .where('kind', '=', 'totp')
        .where((eb) => eb.or([eb('last_step', 'is', null), eb('last_step', '<', step)]))
        .executeTakeFirst()
      return used.numUpdatedRows > 0n
    },

    useSecurityKey: async (userId, { credentialId, counter: before }, counter, at) => {
      const used = await db
        .updateTable('second_factors')
        .set({ counter, last_used_at: at })
        .where('user_id', '=', userId)
        .where('credential_id', '=', Buffer.from(credentialId, 'base64url'))
        .where('counter', '=', before)
        .executeTakeFirst()
      return used.numUpdatedRows > 0n
    },

    useRecoveryCode: async (userId, codeHash) => {
      const used = await db
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('code_hash', '=', codeHash)
        .executeTakeFirst()
      return used.numDeletedRows > 0n
    },
  }
}

/** Locks the account. @returns false if the session epoch is outdated */
async function lock(trx: Transaction<Schema>, { id, sessionEpoch }: Holder): Promise<boolean> {
  const user = await trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', id)
    .where('session_epoch', '=', sessionEpoch)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return user !== undefined
}

/** @returns the new session epoch */
async function endSessions(trx: Transaction<Schema>, userId: string): Promise<number> {
  const { session_epoch } = await trx
    .updateTable('users')
    .set((eb) => ({ session_epoch: eb('session_epoch', '+', 1) }))
    .where('id', '=', userId)
    .returning('session_epoch')
    .executeTakeFirstOrThrow()
  return session_epoch
}

async function replaceCodes(trx: Transaction<Schema>, userId: string, codeHashes: readonly Buffer[]): Promise<void> {
  await trx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  if (codeHashes.length > 0)
    await trx
      .insertInto('recovery_codes')
      .values(codeHashes.map((code_hash) => ({ user_id: userId, code_hash })))
      .execute()
}

function toSecurityKey(row: {
  credential_id: Buffer | null
  public_key: Buffer | null
  counter: number | null
  transports: readonly string[] | null
}): SecurityKey[] {
  const { credential_id, public_key, counter, transports } = row
  if (credential_id === null || public_key === null || counter === null || transports === null) return []
  return [{ credentialId: credential_id.toString('base64url'), publicKey: public_key, counter, transports }]
}
