import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'

/**
 * A client that signs every request (RFC 9421, Ed25519), a PUT with the digest of its body (RFC 9530). Requests that got no
 * answer, and those the vault or a proxy cannot serve now, are tried again with a new nonce each time.
 *
 * Its methods throw VaultError, whose `code` is one of the vault's error table or of this client's own.
 *
 * @throws VaultError `invalid_configuration` when the URL or the private key cannot be used; the methods also throw it,
 *   where the project's name cannot
 */
export const createVaultClient: (options: VaultClientOptions) => VaultClient = clientWith({
  importPrivateKey,
  signRequest,
})

export * from './client/exports.ts'
