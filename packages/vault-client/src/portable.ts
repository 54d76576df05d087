import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures/portable'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'

/** The same client for browsers and edge runtimes: tweetnacl signs, and nothing of Node is needed. */
export const createVaultClient: (options: VaultClientOptions) => VaultClient = clientWith({
  importPrivateKey,
  signRequest,
})

export * from './client/exports.ts'
