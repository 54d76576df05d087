import type { Db } from '../db/schema.ts'
import type { AnnounceKeyStore } from './announce-keys.ts'

/** Announce keys in Postgres. */
export function createAnnounceKeyStore(db: Db): AnnounceKeyStore {
  return {
    keyOf: async (tokenId, initial) => {
      const found = await db.selectFrom('tokens').select('announce_key').where('id', '=', tokenId).executeTakeFirst()
      if (found === undefined || found.announce_key !== null) return found?.announce_key ?? undefined
      // Of concurrent first downloads, one sets it.
      const set = await db
        .updateTable('tokens')
        .set((eb) => ({ announce_key: eb.fn.coalesce('announce_key', eb.val(initial)) }))
        .where('id', '=', tokenId)
        .returning('announce_key')
        .executeTakeFirst()
      return set?.announce_key ?? undefined
    },
  }
}
