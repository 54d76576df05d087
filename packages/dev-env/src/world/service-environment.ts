import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isSecret } from '@vault-and-tracker/service-kit/config/env'
import { type Code, moduleOf, SERVICES, type ServiceName, type WorldOptions } from './services.ts'
import { writePrivateJson } from './state.ts'

/** Users cannot set these: services listen on the loopback address and have their own databases. */
const DECIDED = new Set(['HOST', 'PORT', 'DATABASE_URL', 'REDIS_URL'])

/** The exports of a service's `config.ts`. */
type ConfigModule = {
  /** The settings of the service, by name. */
  settings: { readonly shape: Readonly<Record<string, Parameters<typeof isSecret>[0]>> }
  /** @throws an error whose message lists every problem */
  readConfig(env: Record<string, string>): unknown
}

type Configs = Record<ServiceName, ConfigModule>
type Environment = Record<string, string>
type EnvironmentOptions = Pick<WorldOptions, 'vaultPort' | 'trackerPort' | 'variables' | 'dataDir'>

/** Loads the configuration modules of both services. */
export async function loadConfigs(code: Code): Promise<Configs> {
  const load = async (name: ServiceName): Promise<ConfigModule> =>
    (await import(pathToFileURL(moduleOf(code, `services/${name}`, 'config')).href)) as ConfigModule
  return { vault: await load('vault'), tracker: await load('tracker') }
}

/** The variables that a service reads, including those that name the file of a secret. */
export function variablesOf({ settings }: ConfigModule): string[] {
  return Object.entries(settings.shape).flatMap(([name, setting]) =>
    isSecret(setting) ? [name, `${name}_FILE`] : [name],
  )
}

/** The variables of an environment that each service reads and that the user may set. */
export function serviceVariables(env: NodeJS.ProcessEnv, configs: Configs): Record<ServiceName, Environment> {
  const pick = (config: ConfigModule): Environment =>
    Object.fromEntries(
      variablesOf(config)
        .filter((name) => !DECIDED.has(name.replace(/_FILE$/, '')))
        .flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    )
  // Both services have a PUBLIC_URL. The one in the environment is the tracker's, as with Compose.
  const vault = pick(configs.vault)
  delete vault['PUBLIC_URL']
  const publicUrl = env['VAULT_PUBLIC_URL']
  return { vault: publicUrl ? { ...vault, PUBLIC_URL: publicUrl } : vault, tracker: pick(configs.tracker) }
}

/** The URL of a service. */
export function serviceUrl(name: ServiceName, ports: Pick<WorldOptions, 'vaultPort' | 'trackerPort'>): string {
  return `http://127.0.0.1:${ports[`${name}Port`]}`
}

/** The complete environment of a service: fixed values, the user's settings, and those of the demo. */
export function serviceEnvironment(
  name: ServiceName,
  options: EnvironmentOptions,
  adminToken: string,
  stores: { databaseUrl: string; redisUrl: string },
): Environment {
  const set = options.variables[name]
  const demo =
    name === 'vault'
      ? {
          ...(set['ADMIN_TOKEN_FILE'] === undefined && { ADMIN_TOKEN: adminToken }),
          ...keyringVariables(options.dataDir, set),
        }
      : // The peers of the demo are on this machine.
        { PUBLIC_URL: serviceUrl('tracker', options), ALLOW_PRIVATE_PEERS: 'true' }
  return {
    ...demo,
    ...set,
    // The start itself calls the vault under its own URL.
    ...(name === 'vault' &&
      set['PUBLIC_URL'] !== undefined && { PUBLIC_URL: `${set['PUBLIC_URL']},${serviceUrl('vault', options)}` }),
    HOST: '127.0.0.1',
    PORT: String(options[`${name}Port`]),
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
  }
}

/** The variables of the keyring, unless the user has set them. The first start writes it to a file, which all secrets need. */
function keyringVariables(dataDir: string, set: Environment): Environment {
  if (set['VAULT_KEYRING'] !== undefined || set['VAULT_KEYRING_FILE'] !== undefined) return {}
  const file = join(dataDir, 'vault-keyring.json')
  if (!existsSync(file)) {
    const active = new Date().toISOString().slice(0, 7)
    writePrivateJson(file, { active, keys: { [active]: randomBytes(32).toString('base64') } })
  }
  return { VAULT_KEYRING_FILE: file }
}

/** The problems that each service finds in its configuration. */
export function configProblems(options: EnvironmentOptions, configs: Configs): string[] {
  const stores = { databaseUrl: 'postgres://127.0.0.1/checked-only', redisUrl: 'redis://127.0.0.1' }
  const token = randomBytes(32).toString('hex')
  return SERVICES.flatMap((name) => {
    try {
      configs[name].readConfig(serviceEnvironment(name, options, token, stores))
      return []
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
}
