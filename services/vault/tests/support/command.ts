import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { temporaryFolder, testedArguments } from '@vault-and-tracker/dev-env'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, type VaultClient } from '@vault-and-tracker/vault-client'
import { vault as runVault } from '../../../../packages/vault-client/tests/commands/run-vault.ts'
import { admin } from './client.ts'
import { startVault, type TestVault } from './vault.ts'

/** Starts the `vault` command as a process, for what only a process has: a program and its first arguments. */
export const COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  ...testedArguments('packages/vault-client', 'cli'),
]

export type Outcome = { readonly status: number | null; readonly out: string; readonly err: string }

/** Runs the command as a process and waits for its end. */
export async function runProcess(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  [program, ...words] = COMMAND,
): Promise<Outcome> {
  const child = spawn(program, [...words, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { status: child.exitCode, out, err }
}

/** Runs the command in this process, which takes much less time. Programs that it starts write to the output of Jest. */
export async function runCommand(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  input = '',
): Promise<Outcome> {
  const { status, out, err } = await runVault(args, env, input)
  return { status, out, err }
}

/** A vault with the project `shop`, and the environment of the command with its key. */
export type CommandWorld = {
  readonly vault: TestVault
  readonly client: VaultClient
  readonly env: Readonly<Record<string, string>>
}

/** Starts the vault, and creates an empty home for the command. */
export async function startForCommand(): Promise<CommandWorld> {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  const vault = await startVault()
  const created = await admin(vault.url, 'POST', '/projects', { name: 'shop', publicKey: publicKeyHex })
  if (created.status !== 201) throw new Error(`could not create the project: ${String(created.status)}`)
  const client = createVaultClient({ url: vault.url, project: 'shop', privateKey: privateJwk })
  const HOME = temporaryFolder('command-line')
  const project = { VAULT_URL: vault.url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY: privateJwk, HOME }
  return { vault, client, env: { PATH: process.env['PATH'] ?? '', ...project } }
}
