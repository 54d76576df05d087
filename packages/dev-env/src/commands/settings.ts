import { Fault } from '../processes/command.mjs'
import { configProblems, loadConfigs, serviceVariables } from '../world/service-environment.ts'
import type { Code, WorldOptions } from '../world/services.ts'
import { misspelt } from './misspelt.ts'

/** Settings of `npm start` itself; the services' own come from their `config.ts`. */
const OWN = ['DATA_DIR', 'VAULT_PUBLIC_URL', 'VAULT_PORT', 'TRACKER_PORT', 'DATABASE_URL', 'REDIS_URL']

/** Settings of a single service, which mean nothing for two on one machine. */
const IGNORED: Record<string, string> = {
  HOST: 'both services listen on 127.0.0.1',
  PORT: 'set VAULT_PORT and TRACKER_PORT',
}

/** A sentence for each variable that is set and ignored, with what to do instead. */
export function ignoredSettings(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(IGNORED).flatMap(([name, remedy]) => (env[name] ? [`${name} is ignored: ${remedy}.`] : []))
}

/** What the user may set. */
export type Settings = Pick<WorldOptions, 'vaultPort' | 'trackerPort' | 'databaseUrl' | 'redisUrl' | 'variables'>

/**
 * Reads and checks what the user has set, before anything is started.
 *
 * @param env usually `process.env`
 * @throws {Fault} with every problem at once, those that the services find in their own settings included; no value of
 *   a URL is repeated
 */
export async function readSettings(env: NodeJS.ProcessEnv, where: Code & { dataDir: string }): Promise<Settings> {
  const problems: string[] = []
  const port = (name: string, fallback: number): number => {
    const text = env[name] || String(fallback)
    const value = Number(text)
    if (/^\d+$/.test(text) && value > 0 && value < 65_536) return value
    problems.push(`${name} is ${JSON.stringify(text)} and has to be a port, 1 to 65535`)
    return fallback
  }
  const url = (name: string, protocols: string[]): string | undefined => {
    const text = env[name] || undefined
    if (text === undefined || (URL.canParse(text) && protocols.includes(new URL(text).protocol))) return text
    // The value stays out of the message: it may hold a password.
    problems.push(`${name} has to be a URL that starts with ${protocols.map((each) => `${each}//`).join(' or ')}`)
    return undefined
  }
  const configs = await loadConfigs(where)
  const settings = {
    vaultPort: port('VAULT_PORT', 4200),
    trackerPort: port('TRACKER_PORT', 6969),
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
    variables: serviceVariables(env, configs),
  }
  if (settings.vaultPort === settings.trackerPort) problems.push('VAULT_PORT and TRACKER_PORT have to differ')
  const known = [...OWN, ...Object.values(configs).flatMap(({ CONFIG_VARIABLES }) => CONFIG_VARIABLES)]
  for (const { name, meant } of misspelt(env, known)) problems.push(`${name} is not a setting; did you mean ${meant}?`)
  problems.push(...configProblems({ ...settings, dataDir: where.dataDir }, configs))
  if (problems.length > 0) throw new Fault(problems.join('\n'))
  return settings
}
