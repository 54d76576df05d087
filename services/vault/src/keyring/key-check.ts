import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { canUnwrap, type Keyring, KeyringError } from './keyring.ts'

/** A key-encryption key (KEK) that the database knows; `used` if it currently wraps a key. */
export type KnownKek = {
  readonly id: string
  readonly fingerprint: string
  readonly used: boolean
  readonly retired: boolean
}

/** Ids and fingerprints of key-encryption keys; never the keys. */
export type KekStore = {
  /** Every key that was ever registered. */
  list(): Promise<readonly KnownKek[]>
  /** Inserts new keys and leaves known ones unchanged. */
  register(keks: readonly { id: string; fingerprint: string }[], now: Date): Promise<void>
}

/**
 * Compares the keyring with the database and registers new keys.
 *
 * @throws KeyringError listing every key that is missing, different or retired; in that case nothing is written
 */
export async function checkKeyring(deps: { keyring: Keyring; store: KekStore; clock: Clock }): Promise<void> {
  assertMatches(deps.keyring, await deps.store.list())
  await deps.store.register([...deps.keyring.keys.values()], new Date(deps.clock.now()))
  // Another process may have registered a different key with the same id meanwhile.
  assertMatches(deps.keyring, await deps.store.list())
}

/**
 * Requires that every used key is in the keyring, every known key has the stored fingerprint, and the active key is not
 * retired.
 *
 * @throws KeyringError with one problem per key
 */
export function assertMatches(keyring: Keyring, known: readonly KnownKek[]): void {
  const problems = known.flatMap((kek) => {
    const own = keyring.keys.get(kek.id)
    if (own === undefined)
      return kek.used && !canUnwrap(keyring, kek.id)
        ? [`key ${kek.id} (fingerprint ${kek.fingerprint}) is in use but not in the keyring`]
        : []
    if (own.fingerprint !== kek.fingerprint)
      return [
        `key ${kek.id} differs: the database has fingerprint ${kek.fingerprint}, the keyring has ${own.fingerprint}`,
      ]
    return kek.retired && kek.id === keyring.activeId ? [`key ${kek.id} is retired and cannot be active`] : []
  })
  if (problems.length > 0) throw new KeyringError(problems)
}

/**
 * Requires that an id does not belong to a key that is merely missing from the keyring: a new key with this id could
 * not unwrap the data keys of the other one.
 *
 * @param keyring undefined if there is none yet
 * @throws KeyringError with the fingerprint of the known key
 */
export function assertIdIsFree(id: string, keyring: Keyring | undefined, known: readonly KnownKek[]): void {
  const kek = known.find((other) => other.id === id)
  if (kek !== undefined && keyring?.keys.has(id) !== true)
    throw new KeyringError([`the database has a different key ${id} (fingerprint ${kek.fingerprint}); choose a new id`])
}
