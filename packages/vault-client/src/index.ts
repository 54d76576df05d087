export { createVaultClient, type VaultClient, type VaultClientOptions } from './client.ts'
export { type ClientErrorCode, VaultError } from './errors.ts'
