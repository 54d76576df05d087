import type { Db } from '../db/schema.ts'
import type { EpochStore } from './nonce-memory.ts'

/** The epoch of the nonces in Postgres. */
export function createEpochStore(db: Db): EpochStore {
  const read = async () => (await db.selectFrom('nonce_memory').select('epoch').executeTakeFirst())?.epoch

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
  }
}
