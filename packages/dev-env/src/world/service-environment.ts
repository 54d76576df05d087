import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keyringVariables } from './keyring.ts'
import type { Code, WorldOptions } from './options.ts'
import { SERVICES, type ServiceName } from './plan.ts'

/** Not taken from the user: services listen on the loopback address, and have databases of their own on the servers. */
const DECIDED = new Set(['HOST', 'PORT', 'DATABASE_URL', 'REDIS_URL'])

/** What a service's `config.ts` exports. */
interface ConfigModule {
  /** The environment variables that the service reads. */
  CONFIG_VARIABLES: readonly string[]
  /** @throws an error whose message lists every problem */
  readConfig(env: Record<string, string>): unknown
}

/** The configuration modules of both services, from the code that is run. */
export async function loadConfigs({ root, fromSource }: Code): Promise<Record<ServiceName, ConfigModule>> {
  const load = async (name: ServiceName): Promise<ConfigModule> => {
    const file = join(root, 'services', name, fromSource ? 'src/config.ts' : 'dist/config.js')
    return (await import(pathToFileURL(file).href)) as ConfigModule
  }
  return { vault: await load('vault'), tracker: await load('tracker') }
}

/** The variables of an environment that each service reads and that the user may set. */
export function serviceVariables(
  env: NodeJS.ProcessEnv,
  configs: Record<ServiceName, ConfigModule>,
): Record<ServiceName, Record<string, string>> {
  const pick = (name: ServiceName): Record<string, string> =>
    Object.fromEntries(
      configs[name].CONFIG_VARIABLES.flatMap((variable) => {
        const value = env[variable] ?? ''
        return value === '' || DECIDED.has(variable) ? [] : [[variable, value]]
      }),
    )
  return { vault: pick('vault'), tracker: pick('tracker') }
}

/** The URLs of the services. */
export function serviceUrls(ports: Pick<WorldOptions, 'vaultPort' | 'trackerPort'>): Record<ServiceName, string> {
  return { vault: `http://127.0.0.1:${ports.vaultPort}`, tracker: `http://127.0.0.1:${ports.trackerPort}` }
}

/** The complete environment of each service: what is decided here, what the user has set, what the demo needs. */
export function serviceEnvironments(
  options: Pick<WorldOptions, 'vaultPort' | 'trackerPort' | 'variables' | 'dataDir'>,
  adminToken: string,
  stores: Record<ServiceName, { databaseUrl: string; redisUrl: string }>,
): Record<ServiceName, Record<string, string>> {
  const { variables, dataDir, vaultPort, trackerPort } = options
  const decided = (service: ServiceName, port: number): Record<string, string> => ({
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: stores[service].databaseUrl,
    REDIS_URL: stores[service].redisUrl,
  })
  return {
    vault: {
      ADMIN_TOKEN: adminToken,
      ...keyringVariables(dataDir, variables.vault),
      ...variables.vault,
      ...decided('vault', vaultPort),
    },
    tracker: {
      PUBLIC_URL: serviceUrls(options).tracker,
      // The peers of the demo are on this machine.
      ALLOW_PRIVATE_PEERS: 'true',
      ...variables.tracker,
      ...decided('tracker', trackerPort),
    },
  }
}

/** The problems that each service finds in its configuration, before anything is started. */
export function configProblems(
  options: Parameters<typeof serviceEnvironments>[0],
  configs: Record<ServiceName, ConfigModule>,
): string[] {
  const stores = { databaseUrl: 'postgres://127.0.0.1/checked-only', redisUrl: 'redis://127.0.0.1' }
  const token = randomBytes(32).toString('hex')
  const env = serviceEnvironments(options, token, { vault: stores, tracker: stores })
  return SERVICES.flatMap((name) => {
    try {
      configs[name].readConfig(env[name])
      return []
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
}
