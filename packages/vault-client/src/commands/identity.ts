import { createHash, createPrivateKey, type JsonWebKey } from 'node:crypto'
import { resolve } from 'node:path'
import { generateKeyPair, importPrivateKey } from '@vault-and-tracker/http-signatures/sign'
import { VaultError } from '../client/errors.ts'
import { readPrivateKey } from '../client/private-key.ts'
import { createVaultClient, type ExchangedKey, type VaultClient } from '../index.ts'
import { exchange } from '../oidc/exchanged-settings.ts'
import { writeNew } from './files.ts'
import { type PublicKeyFormat, publicKeyText } from './public-keys.ts'
import {
  changeProfiles,
  clientSettings,
  configuredKey,
  exchangeSettings,
  type GlobalOptions,
  profileName,
  readKey,
  readKeyFile,
  readProfiles,
  requireKey,
  transportSettings,
} from './settings.ts'
import { CommandError, jsonLine, printable, readStdin, type Terminal, UsageError } from './terminal.ts'

/** `vault keygen`: prints a private key, or writes it to a new file. */
export async function keygen(
  options: GlobalOptions & { output?: string; format?: 'jwk' | 'pem' },
  terminal: Terminal,
): Promise<void> {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  const { output, format, json } = options
  const privateKey = format === 'pem' ? pemOf(privateJwk) : privateJwk
  if (output !== undefined) {
    await writeNew(output, () => `${privateKey}\n`)
    terminal.stdout.write(json === true ? jsonLine({ publicKey: publicKeyHex }) : `${publicKeyHex}\n`)
    return
  }
  if (json === true) {
    terminal.stdout.write(jsonLine({ publicKey: publicKeyHex, privateKey }))
    return
  }
  terminal.stdout.write(`${privateKey}\n`)
  terminal.stderr.write(`public key: ${publicKeyHex}\n`)
}

/** `vault exchange`: writes a private key to a new file, after the vault admitted its public key for an ID token. */
export async function exchangeToFile(options: GlobalOptions & { output: string }, terminal: Terminal): Promise<void> {
  const { project, transport } = await exchangeSettings(options, terminal)
  const renew = await exchange(options, transport, project, terminal)
  let exchanged: ExchangedKey | undefined
  await writeNew(options.output, async () => {
    exchanged = await renew()
    return `${exchanged.privateKey}\n`
  })
  if (exchanged === undefined) return
  const { publicKey, expiresAt, scope } = exchanged
  const said = {
    file: options.output,
    project: exchanged.project,
    publicKey,
    expiresAt: expiresAt.toISOString(),
    scope,
  }
  const text = `Wrote a key of ${printable(said.project)} to ${printable(said.file)}. It expires at ${said.expiresAt}.\n`
  terminal.stdout.write(options.json === true ? jsonLine(said) : text)
}

function pemOf(privateJwk: string): string {
  const key = createPrivateKey({ key: JSON.parse(privateJwk) as JsonWebKey, format: 'jwk' })
  return key.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd()
}

/** `vault public-key [FILE]`: prints the public key of a file, of standard input or of the configured key. */
export async function publicKey(
  file: string | undefined,
  options: GlobalOptions & { format?: PublicKeyFormat },
  terminal: Terminal,
): Promise<void> {
  const text = await privateKeyOf(file, options, terminal)
  const key = readPrivateKey(text)
  if (key === undefined) throw new Error('the key was checked before')
  const printed = publicKeyText(importPrivateKey(key).publicKeyHex, options.format ?? 'hex')
  terminal.stdout.write(options.json === true ? jsonLine({ publicKey: printed }) : `${printed}\n`)
}

async function privateKeyOf(file: string | undefined, options: GlobalOptions, terminal: Terminal): Promise<string> {
  if (file === undefined) return configuredKey(options, terminal)
  if (file !== '-') return readKeyFile(file)
  const text = await readStdin(terminal)
  requireKey(text, 'standard input')
  return text
}

/** `vault login`: saves the URL, the project and the path of its key after a successful signed request. */
export async function login(
  options: GlobalOptions & { env?: string; check: boolean },
  terminal: Terminal,
): Promise<void> {
  const name = profileName(options, terminal.env)
  const known = (await readProfiles(terminal.env)).get(name)
  const url = await answer('URL of the vault', options.url ?? terminal.env['VAULT_URL'], known?.url, '--url', terminal)
  const project = await answer(
    'Project',
    options.project ?? terminal.env['VAULT_PROJECT'],
    known?.project,
    '--project',
    terminal,
  )
  const keyFile = resolve(
    await answer(
      'File of the private key',
      options.keyFile ?? terminal.env['VAULT_PRIVATE_KEY_FILE'],
      known?.keyFile,
      '--key-file',
      terminal,
    ),
  )
  const privateKey = await readKey({ file: keyFile }, terminal)
  const client = createVaultClient({ project, privateKey, ...(await transportSettings(url, options, terminal)) })
  if (options.check) await countSecrets(client, options.env)
  const profile = { url, project, keyFile, ...(options.env !== undefined && { env: options.env }) }
  const file = await changeProfiles(terminal.env, (profiles) => profiles.set(name, profile))
  const said = { profile: name, ...profile, publicKey: client.publicKey, file }
  terminal.stdout.write(
    options.json === true ? jsonLine(said) : `Saved profile ${printable(name)} in ${printable(file)}.\n`,
  )
}

/** Returns the number of secrets in an environment, or undefined if the key is accepted but may not read them. */
async function countSecrets(client: VaultClient, env: string | undefined): Promise<number | undefined> {
  try {
    return Object.keys(await client.getAll(env)).length
  } catch (error) {
    if (error instanceof VaultError && error.code === 'forbidden') return undefined
    throw error
  }
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
    throw new UsageError(`${option} is required if there is no terminal to ask on`)
  }
  const said = (await terminal.ask(`${question}${known === undefined ? '' : ` [${printable(known)}]`}: `)).trim()
  const value = said === '' ? known : said
  if (value === undefined) throw new UsageError(`${option} is required`)
  return value
}

/** `vault logout`: deletes a profile, but not the key file. */
export async function logout(options: GlobalOptions, terminal: Terminal): Promise<void> {
  const name = profileName(options, terminal.env)
  await changeProfiles(terminal.env, (profiles) => {
    if (!profiles.delete(name)) throw new CommandError(`there is no profile ${printable(name)}`)
  })
  terminal.stdout.write(
    options.json === true ? jsonLine({ ok: true, profile: name }) : `Deleted profile ${printable(name)}.\n`,
  )
}

/** `vault whoami`: shows the project and key in use, and checks that the vault accepts them. */
export async function whoami(options: GlobalOptions & { env: string }, terminal: Terminal): Promise<void> {
  const settings = await clientSettings(options, terminal)
  const client = createVaultClient(settings)
  const count = await countSecrets(client, options.env)
  const said = {
    url: settings.url,
    project: settings.project,
    publicKey: client.publicKey,
    fingerprint: fingerprintOf(client.publicKey),
    env: options.env,
    secrets: count ?? null,
  }
  const lines = Object.entries(said).map(
    ([name, value]) => `${name.padEnd(11)} ${printable(String(value ?? 'not readable with the scope of this key'))}\n`,
  )
  terminal.stdout.write(options.json === true ? jsonLine(said) : lines.join(''))
}

/** Identifies a public key in lists and in the audit log: the first 32 hex digits of its SHA-256. */
function fingerprintOf(publicKeyHex: string): string {
  return createHash('sha256').update(Buffer.from(publicKeyHex, 'hex')).digest('hex').slice(0, 32)
}
