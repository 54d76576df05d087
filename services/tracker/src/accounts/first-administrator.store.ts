import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { sql, type Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { accountAt, accountConflict, insertAccount } from './accounts.store.ts'
import type { FirstAdministratorStore, SetupRefusal } from './first-administrator.ts'

/** Enough for the starts of many replicas; a container that restarts in a loop cannot fill the table. */
const MAX_CODES = 100

const OLDEST = sql<Date>`now() - interval '24 hours'`

/** Setup codes and the first administrator, in Postgres. */
export function createFirstAdministratorStore(db: Db, clock: Clock): FirstAdministratorStore {
  return {
    addCode: (codeHash) =>
      db.transaction().execute(async (trx) => {
        const isOpen = await lockSetup(trx)
        if (isOpen) await trx.insertInto('setup_codes').values({ code_hash: codeHash }).execute()
        const working = trx
          .selectFrom('setup_codes')
          .select('code_hash')
          .where('created_at', '>', OLDEST)
          .orderBy('created_at', 'desc')
          .limit(isOpen ? MAX_CODES : 0)
        await trx.deleteFrom('setup_codes').where('code_hash', 'not in', working).execute()
        return isOpen
      }),

    refusalOf: (codeHash) => refusalOf(db, codeHash),

    async create(account, codeHash) {
      try {
        return await db.transaction().execute(async (trx) => {
          await lockSetup(trx)
          const refusal = await refusalOf(trx, codeHash)
          if (refusal) return refusal
          await trx.deleteFrom('setup_codes').execute()
          // A trigger closes the setup.
          const row = await insertAccount(trx, account)
          const by = { actorId: row.id, at: account.createdAt }
          const target = { type: 'user', id: row.id, name: row.username } as const
          await recordAdminAction(trx, by, { action: 'site.set-up', target, after: { role: row.role } })
          return accountAt(row, clock.now())
        })
      } catch (error) {
        throw accountConflict(error)
      }
    },
  }
}

async function refusalOf(db: Db, codeHash: Buffer): Promise<SetupRefusal | undefined> {
  const { isClosed, works } = await db
    .selectFrom('site_settings')
    .select((eb) => {
      const code = eb.selectFrom('setup_codes').select('code_hash').where('code_hash', '=', codeHash)
      return ['had_administrator as isClosed', eb.exists(code.where('created_at', '>', OLDEST)).as('works')]
    })
    .executeTakeFirstOrThrow()
  if (isClosed) return 'closed'
  return works ? undefined : 'wrong-code'
}

/** Makes concurrent setups wait for each other. @returns whether the site never had an administrator */
async function lockSetup(trx: Transaction<Schema>): Promise<boolean> {
  const open = await trx
    .selectFrom('site_settings')
    .select('only_row')
    .where('had_administrator', '=', false)
    .forUpdate()
    .executeTakeFirst()
  return open !== undefined
}
