// Shared exports of both entries, in addition to `createVaultClient`.
export type { CacheOptions } from './cache.ts'
export type { VaultClient, VaultClientOptions } from './client.ts'
export { type ClientErrorCode, VAULT_ERROR_CODES, VaultError, type VaultErrorCode } from './errors.ts'
export type { ExchangedKey, ExchangeOptions } from './exchange.ts'
export type { Changes, Secrets } from './secrets.ts'
export type { Watch, WatchOptions } from './watch.ts'
