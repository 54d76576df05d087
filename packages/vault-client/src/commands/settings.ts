import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { VaultClientOptions } from '../client/client.ts'
import { codeOf, folderOf, withLock, writePrivately } from './files.ts'
import { CommandError, printable, type Terminal, UsageError } from './terminal.ts'

/** What `vault login` remembers: never a key or a token, only where the key is. */
export type Profile = { url: string; project: string; keyFile: string; env?: string }
type Profiles = ReadonlyMap<string, Profile>

/** Options that every command takes. */
export type GlobalOptions = { profile?: string; url?: string; project?: string; keyFile?: string; json?: boolean }

const DEFAULT_PROFILE = 'default'

/** Where profiles are; undefined for a user without a home. */
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
    throw new CommandError(`cannot read ${file}: ${codeOf(error)}`)
  }
  try {
    return readProfileMap(JSON.parse(text))
  } catch {
    throw new CommandError(`${file} is damaged; remove it and run vault login again`)
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
 * Changes the profiles, one command after the other.
 *
 * @returns the file they are kept in
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
  return options.profile || env['VAULT_PROFILE'] || DEFAULT_PROFILE
}

/** The profile that is chosen; undefined where none was, and the default one does not exist. */
async function chosenProfile(options: GlobalOptions, env: Terminal['env']): Promise<Profile | undefined> {
  const name = profileName(options, env)
  const profile = (await readProfiles(env)).get(name)
  if (profile === undefined && (options.profile || env['VAULT_PROFILE']))
    throw new UsageError(`there is no profile ${printable(name)}; run vault login --profile ${printable(name)}`)
  return profile
}

/** What an option does not say: of a profile that an option names, else of the variables, else of the profile. Empty is unset. */
function otherwise(options: GlobalOptions, variable: string | undefined, kept: string | undefined): string | undefined {
  return options.profile ? kept || variable || undefined : variable || kept || undefined
}

/** How to reach the vault as a project: options before the profile that one of them names, then variables, then the profile. */
export async function clientSettings(options: GlobalOptions, { env }: Terminal): Promise<VaultClientOptions> {
  const profile = await chosenProfile(options, env)
  const url = options.url || otherwise(options, env['VAULT_URL'], profile?.url)
  const project = options.project || otherwise(options, env['VAULT_PROJECT'], profile?.project)
  const isOfProfile = Boolean(options.profile) && profile !== undefined
  const given = options.keyFile === undefined && !isOfProfile ? env['VAULT_PRIVATE_KEY'] || undefined : undefined
  const keyFile = options.keyFile ?? otherwise(options, env['VAULT_PRIVATE_KEY_FILE'], profile?.keyFile)
  const missing = [
    !url && 'VAULT_URL',
    !project && 'VAULT_PROJECT',
    given === undefined && keyFile === undefined && 'VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE',
  ].filter((name) => typeof name === 'string')
  if (!url || !project || missing.length > 0)
    throw new UsageError(`not set: ${missing.join(', ')}; set them, or run vault login once`)
  return { url, project, privateKey: given ?? (await readKeyFile(keyFile ?? '')) }
}

/** The environment: of the option, the variable or the profile, or `production`. */
export async function environmentOf(options: GlobalOptions & { env?: string }, { env }: Terminal): Promise<string> {
  if (options.env) return options.env
  return otherwise(options, env['VAULT_ENV'], (await chosenProfile(options, env))?.env) ?? 'production'
}

/** What is told of an environment without secrets: the vault answers the same for one that there is not. */
export function noSecretsText(env: string): string {
  return `the environment ${printable(env)} has no secrets; is the name right?`
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
  if (options.url) return options.url
  const url = otherwise(options, env['VAULT_URL'], (await chosenProfile(options, env))?.url)
  if (url === undefined) throw new UsageError('not set: VAULT_URL; set it, or use --url')
  return url
}
