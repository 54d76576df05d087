import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Db } from '../database.ts'
import type { NonceRecord } from './nonces.ts'

/** The state of the nonces in Postgres. */
export function createNonceRecord(db: Db): NonceRecord {
  const epoch = async () => (await db.selectFrom('nonce_memory').select('epoch').executeTakeFirst())?.epoch
  const aheadUntil = async () =>
    (await db.selectFrom('nonce_memory').select('ahead_until').executeTakeFirst())?.ahead_until ?? 0

  return {
    epoch,
    addEpoch: async (added) => {
      await db
        .insertInto('nonce_memory')
        .values({ epoch: added })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await epoch()) ?? added
    },
    aheadUntil,
    raiseAhead: async (untilMs) => {
      await db.updateTable('nonce_memory').set({ ahead_until: untilMs }).where('ahead_until', '<', untilMs).execute()
      const recorded = await aheadUntil()
      if (recorded < untilMs) throw new UnavailableError('postgres')
      return recorded
    },
  }
}
