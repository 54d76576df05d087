import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { importPrivateKey } from '@vault-and-tracker/http-signatures/sign'
import type { VaultClientOptions } from '../client/client.ts'
import { VaultError } from '../client/errors.ts'
import { readPrivateKey } from '../client/private-key.ts'
import type { TransportOptions } from '../client/transport.ts'
import { exchange, renewing, wantsExchange } from '../oidc/exchanged-settings.ts'
import { codeOf, folderOf, reasonOf, withLock, writePrivately } from './files.ts'
import { proxiedFetch } from './proxy.ts'
import { CommandError, printable, type Terminal, tell, UsageError } from './terminal.ts'
import { isEnvironment } from './values.ts'

/** Saved by `vault login`. Contains the path of the key, never a key or a token. */
export type Profile = { url: string; project: string; keyFile: string; env?: string }
type Profiles = ReadonlyMap<string, Profile>

/** The options of every command. */
export type GlobalOptions = {
  profile?: string
  url?: string
  project?: string
  keyFile?: string
  oidc?: boolean
  idTokenFile?: string
  json?: boolean
  /** Seconds. */
  timeout?: number
}

const DEFAULT_PROFILE = 'default'

/** The file of the profiles, or undefined if the user has no home. */
function profilesFile(env: Terminal['env']): string | undefined {
  const folder = folderOf(env, 'XDG_CONFIG_HOME', '.config')
  return folder === undefined ? undefined : join(folder, 'vault-client', 'profiles.json')
}

export async function readProfiles(env: Terminal['env']): Promise<Profiles> {
  const file = profilesFile(env)
  if (file === undefined) return new Map()
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map()
    throw new CommandError(`cannot read ${file}: ${reasonOf(error)}`)
  }
  try {
    return readProfileMap(JSON.parse(text))
  } catch {
    throw new CommandError(`${file} is damaged; delete it and run vault login again`)
  }
}

function readProfileMap(value: unknown): Profiles {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object')
  return new Map(
    Object.entries(value).map(([name, profile]): [string, Profile] => {
      const { url, project, keyFile, env } = profile as Record<string, unknown>
      if (typeof url !== 'string' || typeof project !== 'string' || typeof keyFile !== 'string')
        throw new Error('not a profile')
      return [name, { url, project, keyFile, ...(typeof env === 'string' && { env }) }]
    }),
  )
}

/**
 * Changes the profiles under a lock.
 *
 * @returns the path of the file
 */
export async function changeProfiles(
  env: Terminal['env'],
  change: (profiles: Map<string, Profile>) => void,
): Promise<string> {
  const file = profilesFile(env)
  if (file === undefined) throw new CommandError('there is no folder for profiles; set HOME or XDG_CONFIG_HOME')
  await withLock(file, async () => {
    const profiles = new Map(await readProfiles(env))
    change(profiles)
    await writePrivately(file, `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`)
  })
  return file
}

export function profileName(options: GlobalOptions, env: Terminal['env']): string {
  return options.profile ?? notEmpty(env, 'VAULT_PROFILE') ?? DEFAULT_PROFILE
}

/** @throws UsageError if the variable is empty, which is probably a mistake in a script */
function notEmpty(env: Terminal['env'], name: string): string | undefined {
  const value = env[name]
  if (value === '') throw new UsageError(`${name} is empty; set it or unset it`)
  return value
}

/** The selected profile, or undefined if none was selected and the default profile does not exist. */
async function chosenProfile(options: GlobalOptions, env: Terminal['env']): Promise<Profile | undefined> {
  const name = profileName(options, env)
  const profile = (await readProfiles(env)).get(name)
  if (profile === undefined && (options.profile ?? env['VAULT_PROFILE']) !== undefined)
    throw new UsageError(
      `there is no profile ${printable(name)}; create it with vault login --profile ${printable(name)}`,
    )
  return profile
}

/** A setting without its own option: from the profile of --profile, then the variable, then the default profile. */
function otherwise(options: GlobalOptions, variable: string | undefined, kept: string | undefined): string | undefined {
  return options.profile === undefined ? (variable ?? kept) : (kept ?? variable)
}

/**
 * How to reach the vault as a project: options before the profile that one of them names, then variables, then the
 * profile.
 */
export async function clientSettings(options: GlobalOptions, terminal: Terminal): Promise<VaultClientOptions> {
  const { env } = terminal
  const profile = await chosenProfile(options, env)
  const url = options.url ?? otherwise(options, notEmpty(env, 'VAULT_URL'), profile?.url)
  const project = options.project ?? otherwise(options, notEmpty(env, 'VAULT_PROJECT'), profile?.project)
  const isExchange = wantsExchange(options)
  if (isExchange && options.keyFile !== undefined) throw new UsageError('use either --key-file or --oidc')
  const key = isExchange ? 'exchange' : keySource(options, env, profile)
  const missing = [
    url === undefined && 'VAULT_URL',
    project === undefined && 'VAULT_PROJECT',
    key === undefined && 'VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE',
  ].filter((name) => typeof name === 'string')
  if (url === undefined || project === undefined || key === undefined)
    throw new UsageError(`missing ${missing.join(', ')}; set these variables, or run vault login`)
  const transport = await transportSettings(url, options, terminal)
  if (key === 'exchange') {
    const renew = await exchange(options, transport, project, terminal)
    const first = await renew()
    return { ...transport, project, privateKey: first.privateKey, reloadPrivateKey: renewing(first, renew) }
  }
  return {
    ...{ project, privateKey: await readKey(key, terminal) },
    // A pipe can only be read once.
    ...('file' in key && (await isRegularFile(key.file)) && { reloadPrivateKey: () => readKeyFile(key.file) }),
    ...transport,
  }
}

/** How to reach the vault before there is a key. The project may be left to the trust rule. */
export async function exchangeSettings(options: GlobalOptions, terminal: Terminal) {
  const profile = await chosenProfile(options, terminal.env)
  const url = await adminUrl(options, terminal)
  const project = options.project ?? otherwise(options, notEmpty(terminal.env, 'VAULT_PROJECT'), profile?.project)
  return { project, transport: await transportSettings(url, options, terminal) }
}

/** The private key itself, or the file that contains it. */
type KeySource = { readonly text: string } | { readonly file: string }

function keySource(options: GlobalOptions, env: Terminal['env'], profile: Profile | undefined): KeySource | undefined {
  const isOfProfile = options.profile !== undefined && profile !== undefined
  if (options.keyFile === undefined && !isOfProfile && env['VAULT_PRIVATE_KEY'])
    return { text: env['VAULT_PRIVATE_KEY'] }
  const file = options.keyFile ?? otherwise(options, env['VAULT_PRIVATE_KEY_FILE'] || undefined, profile?.keyFile)
  return file === undefined ? undefined : { file }
}

/** Reads the private key. Warns about a file that other users can read. */
export async function readKey(key: KeySource, terminal: Terminal): Promise<string> {
  if ('text' in key) {
    requireKey(key.text, 'VAULT_PRIVATE_KEY')
    return key.text
  }
  await warnOfReaders(key.file, terminal)
  return readKeyFile(key.file)
}

/** Reads the configured private key. No URL or project is required. */
export async function configuredKey(options: GlobalOptions, terminal: Terminal): Promise<string> {
  const key = keySource(options, terminal.env, await chosenProfile(options, terminal.env))
  if (key === undefined)
    throw new UsageError('missing VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE; set one of them, or name a file')
  return readKey(key, terminal)
}

/** @throws CommandError or VaultError `invalid_configuration`, both with the name of the file */
export async function readKeyFile(file: string): Promise<string> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(`cannot read the private key ${file}: ${reasonOf(error)}`)
  }
  requireKey(text, file)
  return text
}

export function requireKey(text: string, source: string): void {
  try {
    const key = readPrivateKey(text)
    if (key !== undefined) {
      importPrivateKey(key)
      return
    }
  } catch {
    // The message may contain a part of the key.
  }
  const forms = 'a JWK with d, 64 hex digits or a PKCS#8 PEM'
  throw new VaultError('invalid_configuration', `${source} does not contain an Ed25519 private key: ${forms}`)
}

async function isRegularFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isFile() === true
}

async function warnOfReaders(file: string, terminal: Terminal): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() === true && (found.mode & 0o077) !== 0)
    tell(terminal, `warning: other users of this machine can read the private key; run: chmod 600 ${file}`)
}

/** The options for requests. Warns about a URL without TLS. */
export async function transportSettings(
  url: string,
  { timeout }: GlobalOptions,
  terminal: Terminal,
): Promise<TransportOptions> {
  if (URL.canParse(url)) {
    const { protocol, host, hostname } = new URL(url)
    if (protocol === 'http:' && !isLoopback(hostname))
      tell(terminal, `warning: http:// sends secrets and tokens to ${host} unencrypted; use https://`)
  }
  const fetch = await proxiedFetch(url, terminal.env)
  const maxResponse = terminal.env['VAULT_MAX_RESPONSE_BYTES']
  return {
    url,
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
    ...(maxResponse && { maxResponseBytes: Number(maxResponse) }),
    ...(fetch !== undefined && { fetch }),
  }
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d+){3}$/.test(hostname)
  )
}

/** The environment from the option, the variable or the profile; `production` by default. */
export async function environmentOf(options: GlobalOptions & { env?: string }, { env }: Terminal): Promise<string> {
  if (options.env !== undefined) return options.env
  const profile = await chosenProfile(options, env)
  const name = otherwise(options, notEmpty(env, 'VAULT_ENV'), profile?.env) ?? 'production'
  if (!isEnvironment(name)) throw new UsageError(`${printable(name)} is not a valid environment name`)
  return name
}

/** The vault does not distinguish an environment without secrets from one that does not exist. */
export function noSecretsText(env: string): string {
  return `the environment ${printable(env)} has no secrets; check its name`
}

export function noSecretText(key: string, env: string): string {
  return `there is no secret ${printable(key)} in the environment ${printable(env)}`
}

/** The URL of the vault for administrators, who need no project. */
export async function adminUrl(options: GlobalOptions, { env }: Terminal): Promise<string> {
  const url = options.url ?? otherwise(options, notEmpty(env, 'VAULT_URL'), (await chosenProfile(options, env))?.url)
  if (url === undefined) throw new UsageError('missing VAULT_URL; set this variable, or use --url')
  return url
}
