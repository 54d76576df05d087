import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type Keyring, KeyringError } from './keyring.ts'

/** A key-encryption key as the database knows it. */
export type KnownKek = Readonly<{ id: string; fingerprint: string; used: boolean; retired: boolean }>

/** What the database knows of key-encryption keys. */
export type KekStore = {
  /** All keys ever introduced; `used` tells whether a data key is wrapped by it now. */
  list(): Promise<readonly KnownKek[]>
  /** Notes keys that are new to the database; known ones stay as they are. */
  introduce(keks: readonly { id: string; fingerprint: string }[], now: Date): Promise<void>
}

/**
 * Holds the keyring against the database and introduces new keys.
 *
 * @throws KeyringError naming every key that is missing, different or retired; nothing is written then
 */
export async function checkKeyring(deps: { keyring: Keyring; store: KekStore; clock: Clock }): Promise<void> {
  assertMatches(deps.keyring, await deps.store.list())
  await deps.store.introduce([...deps.keyring.keys.values()], new Date(deps.clock.now()))
  // Another process may have introduced another key under the same id at the same moment.
  assertMatches(deps.keyring, await deps.store.list())
}

/**
 * Fails unless every key in use is in the keyring and every known one has the fingerprint it had.
 *
 * @throws KeyringError with one sentence for each key
 */
export function assertMatches(keyring: Keyring, known: readonly KnownKek[]): void {
  const problems = known.flatMap((kek) => {
    const own = keyring.keys.get(kek.id)
    if (own === undefined)
      return kek.used ? [`key ${kek.id} (fingerprint ${kek.fingerprint}) is in use and not in the keyring`] : []
    if (own.fingerprint !== kek.fingerprint)
      return [
        `key ${kek.id} differs: the database was written with fingerprint ${kek.fingerprint}, the keyring holds ${own.fingerprint}`,
      ]
    return kek.retired && kek.id === keyring.activeId ? [`key ${kek.id} is retired and cannot be the active one`] : []
  })
  if (problems.length > 0) throw new KeyringError(problems)
}
