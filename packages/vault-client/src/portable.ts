import { generateKeyPair, importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures/portable'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'
import { type ExchangedKey, type ExchangeOptions, exchangeWith } from './client/exchange.ts'

/** The same client for browsers and edge runtimes, which signs with tweetnacl instead of node:crypto. */
export const createVaultClient: (options: VaultClientOptions) => VaultClient = clientWith({
  importPrivateKey,
  signRequest,
})

/**
 * Creates a key pair in memory, and exchanges an ID token of the platform (GitHub Actions, GitLab, Kubernetes and others)
 * for its admission: a trust rule of the project decides for how long.
 *
 * @throws VaultError, for example `invalid_id_token` or `no_trust_rule`
 */
export const exchangeKey: (options: ExchangeOptions) => Promise<ExchangedKey> = exchangeWith(generateKeyPair)

export * from './client/exports.ts'
