import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { VaultError } from '../client/errors.ts'
import { createVaultClient, type VaultClient } from '../index.ts'
import { writeNew } from './files.ts'
import {
  changeProfiles,
  clientSettings,
  type GlobalOptions,
  profileName,
  readKeyFile,
  readProfiles,
} from './settings.ts'
import { CommandError, printable, type Terminal, UsageError } from './terminal.ts'

/** `vault keygen`: the private half on standard output or in a new file, the public half on standard error. */
export async function keygen(options: GlobalOptions & { output?: string }, terminal: Terminal): Promise<void> {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  if (options.output !== undefined) {
    await writeNew(options.output, () => `${privateJwk}\n`)
    terminal.stdout.write(
      options.json === true ? `${JSON.stringify({ publicKey: publicKeyHex })}\n` : `${publicKeyHex}\n`,
    )
    return
  }
  if (options.json === true) {
    terminal.stdout.write(`${JSON.stringify({ publicKey: publicKeyHex, privateKey: privateJwk })}\n`)
    return
  }
  terminal.stdout.write(`${privateJwk}\n`)
  terminal.stderr.write(`public key: ${publicKeyHex}\n`)
}

/** `vault login`: remembers where the vault, the project and its key are, after a signed request that worked. */
export async function login(
  options: GlobalOptions & { env?: string; check: boolean },
  terminal: Terminal,
): Promise<void> {
  const name = profileName(options, terminal.env)
  const known = (await readProfiles(terminal.env)).get(name)
  const url = await answer('URL of the vault', options.url ?? terminal.env['VAULT_URL'], known?.url, '--url', terminal)
  const project = await answer(
    'project',
    options.project ?? terminal.env['VAULT_PROJECT'],
    known?.project,
    '--project',
    terminal,
  )
  const keyFile = resolve(
    await answer(
      'file of the private key',
      options.keyFile ?? terminal.env['VAULT_PRIVATE_KEY_FILE'],
      known?.keyFile,
      '--key-file',
      terminal,
    ),
  )
  const client = createVaultClient({ url, project, privateKey: await readKeyFile(keyFile) })
  if (options.check) await countSecrets(client, options.env)
  await warnOfReaders(keyFile, terminal)
  const profile = { url, project, keyFile, ...(options.env !== undefined && { env: options.env }) }
  const file = await changeProfiles(terminal.env, (profiles) => profiles.set(name, profile))
  const said = { profile: name, ...profile, publicKey: client.publicKey, file }
  terminal.stdout.write(
    options.json === true ? `${JSON.stringify(said)}\n` : `profile ${printable(name)} is kept in ${file}\n`,
  )
}

/** How many secrets an environment has; undefined where the vault accepts the key, whose scope does not let it read them. */
async function countSecrets(client: VaultClient, env: string | undefined): Promise<number | undefined> {
  try {
    return Object.keys(await client.getAll(env)).length
  } catch (error) {
    if (error instanceof VaultError && error.code === 'forbidden') return undefined
    throw error
  }
}

/** Says so where other users of the machine read the key. Where it is mounted into a container, that is as it should be. */
async function warnOfReaders(keyFile: string, { stderr }: Terminal): Promise<void> {
  const { mode } = await stat(keyFile)
  if ((mode & 0o077) !== 0) stderr.write(`vault: others on this machine can read the key; chmod 600 ${keyFile}\n`)
}

async function answer(
  question: string,
  given: string | undefined,
  known: string | undefined,
  option: string,
  terminal: Terminal,
): Promise<string> {
  if (given) return given
  if (terminal.stdin.isTTY !== true) {
    if (known !== undefined) return known
    throw new UsageError(`${option} is missing, and there is no terminal to ask on`)
  }
  const said = (await terminal.ask(`${question}${known === undefined ? '' : ` [${known}]`}: `)).trim()
  const value = said === '' ? known : said
  if (value === undefined) throw new UsageError(`${option} is missing`)
  return value
}

/** `vault logout`: forgets a profile. The key stays where it is. */
export async function logout(options: GlobalOptions, terminal: Terminal): Promise<void> {
  const name = profileName(options, terminal.env)
  await changeProfiles(terminal.env, (profiles) => {
    if (!profiles.delete(name)) throw new CommandError(`there is no profile ${printable(name)}`)
  })
  if (options.json === true) terminal.stdout.write(`${JSON.stringify({ ok: true, profile: name })}\n`)
}

/** `vault whoami`: which project and key are used, and whether the vault accepts them. */
export async function whoami(options: GlobalOptions & { env: string }, terminal: Terminal): Promise<void> {
  const settings = await clientSettings(options, terminal)
  const client = createVaultClient(settings)
  const count = await countSecrets(client, options.env)
  const said = {
    url: settings.url,
    project: settings.project,
    publicKey: client.publicKey,
    env: options.env,
    secrets: count ?? null,
  }
  const lines = Object.entries(said).map(
    ([name, value]) => `${name.padEnd(10)} ${String(value ?? 'the scope of the key does not let it read them')}\n`,
  )
  terminal.stdout.write(options.json === true ? `${JSON.stringify(said)}\n` : lines.join(''))
}
