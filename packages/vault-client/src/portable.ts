import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures/portable'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'

/** The same client for browsers and edge runtimes, which signs with tweetnacl instead of node:crypto. */
export const createVaultClient: (options: VaultClientOptions) => VaultClient = clientWith({
  importPrivateKey,
  signRequest,
})

export * from './client/exports.ts'
