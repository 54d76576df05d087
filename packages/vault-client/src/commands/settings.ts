import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { VaultClientOptions } from '../client/client.ts'
import { CommandError, type Terminal, UsageError } from './terminal.ts'

/** What `vault login` remembers: never a key or a token, only where the key is. */
export type Profile = { url: string; project: string; keyFile: string; env?: string }
type Profiles = Record<string, Profile>

/** Options that every command takes. */
export type GlobalOptions = { profile?: string; url?: string; project?: string; keyFile?: string; json?: boolean }

const DEFAULT_PROFILE = 'default'

/** Where profiles are (XDG Base Directory Specification). */
export function profilesFile(env: Terminal['env']): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'vault-client', 'profiles.json')
}

export async function readProfiles(env: Terminal['env']): Promise<Profiles> {
  const file = profilesFile(env)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return {}
    throw new CommandError(`cannot read ${file}: ${codeOf(error)}`)
  }
  try {
    return readProfileMap(JSON.parse(text))
  } catch {
    throw new CommandError(`${file} is damaged; remove it and run vault login again`)
  }
}

function readProfileMap(value: unknown): Profiles {
  if (typeof value !== 'object' || value === null) throw new Error('not an object')
  return Object.fromEntries(
    Object.entries(value).map(([name, profile]) => {
      const { url, project, keyFile, env } = profile as Record<string, unknown>
      if (typeof url !== 'string' || typeof project !== 'string' || typeof keyFile !== 'string')
        throw new Error('not a profile')
      return [name, { url, project, keyFile, ...(typeof env === 'string' && { env }) }]
    }),
  )
}

export async function writeProfiles(env: Terminal['env'], profiles: Profiles): Promise<void> {
  await writePrivately(profilesFile(env), `${JSON.stringify(profiles, null, 2)}\n`)
}

/** Writes a file that only its owner reads, whole or not at all. */
export async function writePrivately(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${String(process.pid)}.tmp`
  await writeFile(temporary, content, { mode: 0o600 })
  await rename(temporary, file)
}

export function profileName(options: GlobalOptions, env: Terminal['env']): string {
  return options.profile || env['VAULT_PROFILE'] || DEFAULT_PROFILE
}

/** The profile that is chosen; undefined where none was, and the default one does not exist. */
export async function chosenProfile(options: GlobalOptions, env: Terminal['env']): Promise<Profile | undefined> {
  const name = profileName(options, env)
  const profile = (await readProfiles(env))[name]
  if (profile === undefined && (options.profile || env['VAULT_PROFILE']))
    throw new UsageError(`there is no profile ${name}; run vault login --profile ${name}`)
  return profile
}

/** How to reach the vault as a project: options before variables before the profile. An empty variable is none. */
export async function clientSettings(options: GlobalOptions, { env }: Terminal): Promise<VaultClientOptions> {
  const profile = await chosenProfile(options, env)
  const url = options.url || env['VAULT_URL'] || profile?.url
  const project = options.project || env['VAULT_PROJECT'] || profile?.project
  const keyFile = env['VAULT_PRIVATE_KEY_FILE'] || profile?.keyFile
  const isKeyGiven = options.keyFile !== undefined || Boolean(env['VAULT_PRIVATE_KEY']) || keyFile !== undefined
  const missing = [
    !url && 'VAULT_URL',
    !project && 'VAULT_PROJECT',
    !isKeyGiven && 'VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE',
  ].filter((name) => typeof name === 'string')
  if (!url || !project || missing.length > 0)
    throw new UsageError(`not set: ${missing.join(', ')}; set them, or run vault login once`)
  const privateKey =
    options.keyFile === undefined && env['VAULT_PRIVATE_KEY']
      ? env['VAULT_PRIVATE_KEY']
      : await readKeyFile(options.keyFile ?? keyFile ?? '')
  return { url, project, privateKey }
}

export async function readKeyFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(`cannot read the private key ${file}: ${codeOf(error)}`)
  }
}

/** Where the vault is, for administrators, who have no project. */
export async function adminUrl(options: GlobalOptions, { env }: Terminal): Promise<string> {
  const url = options.url || env['VAULT_URL'] || (await chosenProfile(options, env))?.url
  if (!url) throw new UsageError('not set: VAULT_URL; set it, or use --url')
  return url
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

/** The code of an error of the system; errors of another realm are no instances of this one's class. */
export function codeOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
}
