import { KeyringError } from '../keyring/keyring.ts'
import type { Db } from './schema.ts'

/**
 * Locks a key-encryption key that is about to wrap a key, until the transaction ends. A retirement waits for the lock,
 * then sees what the key wraps, and refuses.
 *
 * @throws KeyringError when the key is retired
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
