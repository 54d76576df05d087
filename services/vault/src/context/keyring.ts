import { createKeyring, type Keyring } from '../keyring/keyring.ts'
import { createTransitClient, type TransitSettings } from '../keyring/transit.http.ts'
import { createTransitKeys } from '../keyring/transit-keys.ts'

/** Which key-encryption keys a process has. */
export type KeyringSettings = {
  /** The keys of the keyring file or of VAULT_KEYRING; none where there is neither. */
  readonly keyring: Keyring
  readonly transit: (TransitSettings & { readonly wraps: boolean }) | undefined
}

/**
 * Joins the keys of this process with those of a service, which is asked for them.
 *
 * @throws KeyringError when a key of the service cannot be used; UnavailableError when it does not respond
 */
export async function openKeyring({ keyring, transit }: KeyringSettings): Promise<Keyring> {
  if (transit === undefined) return keyring
  const service = await createTransitKeys(createTransitClient(transit), transit.key)
  return createKeyring(transit.wraps ? [service, ...keyring.providers] : [...keyring.providers, service])
}
