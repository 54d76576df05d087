import { createKeyring, type Keyring } from '../keyring/keyring.ts'
import { createTransitClient, type TransitSettings } from '../keyring/transit.http.ts'
import { createTransitKeys } from '../keyring/transit-keys.ts'

/** The key-encryption keys of a process. */
export type KeyringSettings = {
  /** The keys of the keyring file or VAULT_KEYRING, if any. */
  readonly keyring: Keyring
  readonly transit: (TransitSettings & { readonly wraps: boolean }) | undefined
}

/**
 * Adds the keys of the transit service to those of this process.
 *
 * @throws KeyringError if a key of the service cannot be used; UnavailableError if it does not respond
 */
export async function openKeyring({ keyring, transit }: KeyringSettings): Promise<Keyring> {
  if (transit === undefined) return keyring
  const service = await createTransitKeys(createTransitClient(transit), transit.key)
  return createKeyring(transit.wraps ? [service, ...keyring.providers] : [...keyring.providers, service])
}
