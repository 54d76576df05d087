import { createHmac, type KeyObject } from 'node:crypto'
import { importPrivateKey, type SigningKey } from '@vault-and-tracker/http-signatures'

/** The name of the vault in its own signatures: `keyid` is `vault.agents.vault.local`. */
export const SIGNER = 'vault'

/**
 * The key with which the vault signs its own requests. It is derived from the key of the audit chain, which is random,
 * stored wrapped, and outlives every rotation of key-encryption keys; so the database alone can neither read nor replace it.
 */
export function createWebhookKey(chainKey: KeyObject): SigningKey {
  return importPrivateKey(createHmac('sha256', chainKey).update('vault/webhook-key/1').digest())
}
