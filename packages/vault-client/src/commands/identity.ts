import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient } from '../index.ts'
import {
  clientSettings,
  codeOf,
  type GlobalOptions,
  profileName,
  profilesFile,
  readKeyFile,
  readProfiles,
  writeProfiles,
} from './settings.ts'
import { CommandError, type Terminal, UsageError } from './terminal.ts'

/** `vault keygen`: the private half on standard output or in a new file, the public half on standard error. */
export async function keygen(options: GlobalOptions & { output?: string }, terminal: Terminal): Promise<void> {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  if (options.output !== undefined) {
    await writeNew(options.output, `${privateJwk}\n`)
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

/** A key is never overwritten: it may be the only copy. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600)
    await handle.writeFile(text)
    await handle.close()
  } catch (error) {
    const code = codeOf(error)
    throw new CommandError(
      code === 'EEXIST' ? `${file} exists, and a key is not overwritten` : `cannot write ${file}: ${code}`,
    )
  }
}

/** `vault login`: remembers where the vault, the project and its key are, after a signed request that worked. */
export async function login(
  options: GlobalOptions & { env?: string; check: boolean },
  terminal: Terminal,
): Promise<void> {
  const name = profileName(options, terminal.env)
  const profiles = await readProfiles(terminal.env)
  const known = profiles[name]
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
  if (options.check) await client.getAll(options.env)
  const profile = { url, project, keyFile, ...(options.env !== undefined && { env: options.env }) }
  await writeProfiles(terminal.env, { ...profiles, [name]: profile })
  const said = { profile: name, ...profile, publicKey: client.publicKey, file: profilesFile(terminal.env) }
  terminal.stdout.write(
    options.json === true ? `${JSON.stringify(said)}\n` : `profile ${name} is kept in ${said.file}\n`,
  )
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
  const { [name]: known, ...rest } = await readProfiles(terminal.env)
  if (known === undefined) throw new CommandError(`there is no profile ${name}`)
  await writeProfiles(terminal.env, rest)
}

/** `vault whoami`: which project and key are used, and whether the vault accepts them. */
export async function whoami(options: GlobalOptions & { env: string }, terminal: Terminal): Promise<void> {
  const settings = await clientSettings(options, terminal)
  const client = createVaultClient(settings)
  const count = Object.keys(await client.getAll(options.env)).length
  const said = {
    url: settings.url,
    project: settings.project,
    publicKey: client.publicKey,
    env: options.env,
    secrets: count,
  }
  const lines = Object.entries(said).map(([name, value]) => `${name.padEnd(10)} ${String(value)}\n`)
  terminal.stdout.write(options.json === true ? `${JSON.stringify(said)}\n` : lines.join(''))
}
