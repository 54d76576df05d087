import { generateKeyPair, importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures/sign'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'
import { type ExchangedKey, type ExchangeOptions, exchangeWith } from './client/exchange.ts'

/**
 * Creates a client that signs every request (RFC 9421, Ed25519), including the digest of a body (RFC 9530). Requests
 * without a response, and those that the vault or a proxy temporarily cannot serve, are retried with a new nonce.
 *
 * The methods throw VaultError, whose `code` is from the vault's error table or a `ClientErrorCode`.
 *
 * @throws VaultError `invalid_configuration` if the URL or the private key is unusable; the methods also throw it if the
 *   name of the project is
 */
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
