import type { Database } from '../db/schema.ts'
import type { DataKeyStore } from './data-keys.ts'
import type { KekStore } from './key-check.ts'

/** Wrapped data keys in Postgres. */
export function createDataKeyStore(db: Database): DataKeyStore {
  return {
    findDataKey: async (projectUid, dekV) => {
      const row = await db
        .selectFrom('project_deks')
        .select(['dek_v', 'kek_id', 'wrapped'])
        .where('project_uid', '=', projectUid)
        .where('dek_v', '=', dekV)
        .executeTakeFirst()
      return row && { dekV: row.dek_v, kekId: row.kek_id, wrapped: row.wrapped }
    },
  }
}

/** What the database knows of key-encryption keys: never the keys, only their ids and fingerprints. */
export function createKekStore(db: Database): KekStore {
  return {
    list: async () => {
      const rows = await db
        .selectFrom('keks as k')
        .select(['k.kek_id', 'k.fingerprint', 'k.retired_at'])
        .select((eb) =>
          eb
            .or([
              eb.exists(eb.selectFrom('project_deks as d').select('d.dek_v').whereRef('d.kek_id', '=', 'k.kek_id')),
              eb.exists(eb.selectFrom('audit_keys as a').select('a.key_no').whereRef('a.kek_id', '=', 'k.kek_id')),
            ])
            .as('used'),
        )
        .orderBy('k.kek_id')
        .execute()
      return rows.map((row) => ({
        id: row.kek_id,
        fingerprint: row.fingerprint,
        used: Boolean(row.used),
        retired: row.retired_at !== null,
      }))
    },

    introduce: async (keks, now) => {
      await db
        .insertInto('keks')
        .values(keks.map((kek) => ({ kek_id: kek.id, fingerprint: kek.fingerprint, first_seen: now })))
        .onConflict((conflict) => conflict.column('kek_id').doNothing())
        .execute()
    },
  }
}
