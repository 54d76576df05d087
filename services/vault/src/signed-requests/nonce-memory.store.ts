import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Db } from '../db/schema.ts'
import type { AheadRecord, EpochStore } from './nonce-memory.ts'

/** The epoch of the nonces in Postgres, and up to which time requests were dated ahead. */
export function createMemoryRecord(db: Db): EpochStore & { readonly ahead: AheadRecord } {
  const read = async () => (await db.selectFrom('nonce_memory').select('epoch').executeTakeFirst())?.epoch
  const readAhead = async () =>
    (await db.selectFrom('nonce_memory').select('ahead_until').executeTakeFirst())?.ahead_until ?? 0

  return {
    read,
    add: async (epoch) => {
      await db
        .insertInto('nonce_memory')
        .values({ epoch })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await read()) ?? epoch
    },
    ahead: {
      read: readAhead,
      raise: async (untilMs) => {
        await db.updateTable('nonce_memory').set({ ahead_until: untilMs }).where('ahead_until', '<', untilMs).execute()
        const recorded = await readAhead()
        if (recorded < untilMs) throw new UnavailableError('postgres')
        return recorded
      },
    },
  }
}
