import { temporaryFolder, testedArguments } from '@vault-and-tracker/dev-env'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultClient } from '@vault-and-tracker/vault-client'
import { admin } from './client.ts'
import { startVault, type TestVault } from './vault.ts'

/** Runs the `vault` command: a program and its first arguments. */
export const COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  ...testedArguments('packages/vault-client', 'cli'),
]

/** A vault with the project `shop`, and the environment of the command with its key. */
export type CommandWorld = { readonly vault: TestVault; readonly client: VaultClient; readonly env: NodeJS.ProcessEnv }

/** Starts the vault, and creates an empty home for the command. */
export async function startForCommand(): Promise<CommandWorld> {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  const vault = await startVault()
  const created = await admin(vault.url, 'POST', '/projects', { name: 'shop', publicKey: publicKeyHex })
  if (created.status !== 201) throw new Error(`could not create the project: ${String(created.status)}`)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  const HOME = temporaryFolder('command-line')
  const project = { VAULT_URL: vault.url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY: privateJwk, HOME }
  return { vault, client, env: { ...process.env, NODE_OPTIONS: '', ...project } }
}
