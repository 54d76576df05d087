import type { Db } from '../database.ts'
import type { ChainKeyStore } from './chain-keys.ts'
import type { DataKeyStore } from './data-keys.ts'
import type { KekStore } from './key-check.ts'
import { KeyringError } from './keyring.ts'

/** Wrapped data keys in Postgres. */
export function createDataKeyStore(db: Db): DataKeyStore {
  const keys = db.selectFrom('project_deks').select(['dek_v as dekV', 'kek_id as kekId', 'wrapped'])
  return {
    findDataKey: (projectUid, dekV) =>
      keys.where('project_uid', '=', projectUid).where('dek_v', '=', dekV).executeTakeFirst(),

    findNewestDataKey: (projectUid) =>
      keys.where('project_uid', '=', projectUid).orderBy('dek_v', 'desc').limit(1).executeTakeFirst(),

    findValue: async (projectUid, dekV) => {
      const row = await db
        .selectFrom('secrets as s')
        .innerJoin('secret_versions as v', 'v.secret_id', 's.id')
        .select(['s.env', 's.key', 'v.version', 'v.blob'])
        .where('s.project_uid', '=', projectUid)
        .where('v.dek_v', '=', dekV)
        .limit(1)
        .executeTakeFirst()
      return row && { place: { projectUid, env: row.env, key: row.key, version: row.version }, blob: row.blob }
    },

    replaceWrapped: async (projectUid, key, wrapped) => {
      await db
        .updateTable('project_deks')
        .set({ wrapped })
        .where('project_uid', '=', projectUid)
        .where('dek_v', '=', key.dekV)
        .where('wrapped', '=', key.wrapped)
        .execute()
    },
  }
}

/** Ids and fingerprints of key-encryption keys in Postgres; never the keys. */
export function createKekStore(db: Db): KekStore {
  return {
    list: async () => {
      const rows = await db
        .selectFrom('keks as k')
        .select(['k.kek_id as id', 'k.fingerprint', 'k.retired_at as retiredAt'])
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
      return rows.map(({ id, fingerprint, retiredAt, used }) => {
        return { id, fingerprint, used: Boolean(used), retired: retiredAt !== null }
      })
    },

    register: async (keks, now) => {
      await db
        .insertInto('keks')
        .values(keks.map((kek) => ({ kek_id: kek.id, fingerprint: kek.fingerprint, first_seen: now })))
        .onConflict((conflict) => conflict.column('kek_id').doNothing())
        .execute()
    },
  }
}

/** The wrapped keys of the audit chain in Postgres. */
export function createChainKeyStore(db: Db): ChainKeyStore {
  const keys = db.selectFrom('audit_keys').select(['key_no as keyNo', 'kek_id as kekId', 'wrapped'])
  return {
    find: (keyNo) => keys.where('key_no', '=', keyNo).executeTakeFirst(),
    addFirst: async (key, now) => {
      await db
        .insertInto('audit_keys')
        .values({ key_no: key.keyNo, kek_id: key.kekId, wrapped: key.wrapped, created_at: now })
        .onConflict((conflict) => conflict.column('key_no').doNothing())
        .execute()
    },
  }
}

/**
 * Locks a key-encryption key that is about to wrap a key, until the transaction ends. A retirement waits for the lock, then
 * finds the wrapped key and refuses.
 *
 * @throws KeyringError if the key is retired
 */
export async function lockKek(trx: Db, id: string): Promise<void> {
  const kek = await trx
    .selectFrom('keks')
    .select('kek_id')
    .where('kek_id', '=', id)
    .where('retired_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (kek === undefined)
    throw new KeyringError([`key ${id} is retired; restart, or run again, with the active key of the keyring`])
}
