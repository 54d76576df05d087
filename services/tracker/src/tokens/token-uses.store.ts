import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { TokenUseStore } from './token-uses.ts'

/** Uses of tokens in Postgres. */
export function createTokenUseStore(db: Db): TokenUseStore {
  return {
    // Rows are locked by id, so that processes that record the same tokens wait for each other in one order.
    record: async (uses) => {
      await sql`
        with uses as (
          select * from jsonb_to_recordset(${JSON.stringify(uses)}::jsonb) as u (id uuid, at timestamptz, address text)
        ), locked as (
          select tokens.id, uses.at, uses.address from tokens join uses on uses.id = tokens.id
          where last_used_at is null or last_used_at < uses.at
          order by tokens.id for no key update of tokens
        )
        update tokens set last_used_at = locked.at, last_used_address = locked.address
        from locked where tokens.id = locked.id`.execute(db)
    },
  }
}
