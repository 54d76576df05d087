import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures/portable'
import { clientWith, type VaultClient, type VaultClientOptions } from './client/client.ts'

/** The same client for browsers and edge runtimes: tweetnacl signs, and nothing of Node is needed. */
export const createVaultClient: (options: VaultClientOptions) => VaultClient = clientWith({
  importPrivateKey,
  signRequest,
})

export type { CacheOptions } from './client/cache.ts'
export type { VaultClient, VaultClientOptions } from './client/client.ts'
export { type ClientErrorCode, VaultError, type VaultErrorCode } from './client/errors.ts'
export type { Changes, Secrets } from './client/secrets.ts'
export type { Watch, WatchOptions } from './client/watch.ts'
