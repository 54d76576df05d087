import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { canUnwrap, type Keyring, KeyringError } from './keyring.ts'

/** What the database holds about a key-encryption key (KEK). `used` tells whether it wraps a data key now. */
export type KnownKek = {
  readonly id: string
  readonly fingerprint: string
  readonly used: boolean
  readonly retired: boolean
}

/** The store of ids and fingerprints of key-encryption keys; never of the keys. */
export type KekStore = {
  /** Every key that was ever registered. */
  list(): Promise<readonly KnownKek[]>
  /** Inserts keys that are new to the database; known ones stay as they are. */
  register(keks: readonly { id: string; fingerprint: string }[], now: Date): Promise<void>
}

/**
 * Compares the keyring with the database and registers new keys.
 *
 * @throws KeyringError naming every key that is missing, different or retired; then nothing is written
 */
export async function checkKeyring(deps: { keyring: Keyring; store: KekStore; clock: Clock }): Promise<void> {
  assertMatches(deps.keyring, await deps.store.list())
  await deps.store.register([...deps.keyring.keys.values()], new Date(deps.clock.now()))
  // Another process may have registered another key under the same id at the same moment.
  assertMatches(deps.keyring, await deps.store.list())
}

/**
 * Fails unless every key in use is in the keyring, every known key has the fingerprint that the database holds, and the
 * active key is not retired.
 *
 * @throws KeyringError with one sentence for each key
 */
export function assertMatches(keyring: Keyring, known: readonly KnownKek[]): void {
  const problems = known.flatMap((kek) => {
    const own = keyring.keys.get(kek.id)
    if (own === undefined)
      return kek.used && !canUnwrap(keyring, kek.id)
        ? [`key ${kek.id} (fingerprint ${kek.fingerprint}) is in use and not in the keyring`]
        : []
    if (own.fingerprint !== kek.fingerprint)
      return [
        `key ${kek.id} differs: the database was written with fingerprint ${kek.fingerprint}, the keyring holds ${own.fingerprint}`,
      ]
    return kek.retired && kek.id === keyring.activeId ? [`key ${kek.id} is retired and cannot be the active one`] : []
  })
  if (problems.length > 0) throw new KeyringError(problems)
}

/**
 * Fails when the database knows an id that the keyring lacks: the id belongs to a key that is only missing here, and a
 * new key with this id could not unwrap what that one wrapped.
 *
 * @param keyring undefined when there is none yet
 * @throws KeyringError with the fingerprint of the known key
 */
export function assertIdIsFree(id: string, keyring: Keyring | undefined, known: readonly KnownKek[]): void {
  const kek = known.find((other) => other.id === id)
  if (kek !== undefined && keyring?.keys.has(id) !== true)
    throw new KeyringError([`the database knows another key ${id} (fingerprint ${kek.fingerprint}); choose a new id`])
}
