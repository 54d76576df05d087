import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { KeyUseStore } from './key-uses.ts'

/** When keys were last used, in Postgres. Rows that a rotation or another replica has locked are passed over. */
export function createKeyUseStore(db: Db): KeyUseStore {
  return {
    write: async (uses) => {
      await sql`with used as (
          select k.id, u.at
          from unnest(${uses.map(({ keyId }) => keyId)}::uuid[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
          join project_keys k on k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)
          for no key update of k skip locked
        )
        update project_keys k set last_used_at = used.at from used where k.id = used.id`.execute(db)
    },
  }
}
