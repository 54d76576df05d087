import leven from 'leven'
import { Fault } from '../processes/command.mjs'
import { configProblems, loadConfigs, serviceVariables, variablesOf } from '../world/service-environment.ts'
import type { Code, WorldOptions } from '../world/services.ts'

/** Settings of `npm start` itself. The services' settings come from their `config.ts`. */
const OWN = ['DATA_DIR', 'VAULT_PUBLIC_URL', 'VAULT_PORT', 'TRACKER_PORT', 'DATABASE_URL', 'REDIS_URL']

/** Settings of a single service, which do not apply to two on one machine. */
const IGNORED: Record<string, string> = {
  HOST: 'both services listen on 127.0.0.1',
  PORT: 'set VAULT_PORT and TRACKER_PORT',
}

/** A sentence for each variable that is set and ignored, with what to do instead. */
export function ignoredSettings(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(IGNORED).flatMap(([name, remedy]) => (env[name] ? [`${name} is ignored: ${remedy}.`] : []))
}

export type Settings = Pick<WorldOptions, 'vaultPort' | 'trackerPort' | 'databaseUrl' | 'redisUrl' | 'variables'>

/**
 * Reads and checks the user's settings before anything is started.
 *
 * @param env usually `process.env`
 * @throws {Fault} with every problem at once, including those that the services find; it repeats no value of a URL
 */
export async function readSettings(env: NodeJS.ProcessEnv, where: Code & { dataDir: string }): Promise<Settings> {
  const problems: string[] = []
  const port = (name: string, fallback: number): number => {
    const text = env[name] || String(fallback)
    const value = Number(text)
    if (/^\d+$/.test(text) && value > 0 && value < 65_536) return value
    problems.push(`${name} is ${JSON.stringify(text)}. It must be a port from 1 to 65535.`)
    return fallback
  }
  const url = (name: string, protocols: string[]): string | undefined => {
    const text = env[name] || undefined
    if (text === undefined || (URL.canParse(text) && protocols.includes(new URL(text).protocol))) return text
    // The value may contain a password.
    problems.push(`${name} must be a URL that starts with ${protocols.map((each) => `${each}//`).join(' or ')}.`)
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
  if (settings.vaultPort === settings.trackerPort) problems.push('VAULT_PORT and TRACKER_PORT must differ.')
  const known = [...OWN, ...Object.values(configs).flatMap(variablesOf)]
  for (const { name, meant } of misspelt(env, known)) problems.push(`${name} is not a setting. Did you mean ${meant}?`)
  problems.push(...configProblems({ ...settings, dataDir: where.dataDir }, configs))
  if (problems.length > 0) throw new Fault(problems.join('\n'))
  return settings
}

/** Common names that other programs use in variants, such as LOGLEVEL and DATABASE_URI. Variants are not reported. */
const COMMON = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'DATA_DIR', 'PUBLIC_URL', 'DATABASE_URL', 'REDIS_URL'])
const LONG = 16

/** Variables that differ from a setting by one edit, or from a long name by two. */
function misspelt(env: NodeJS.ProcessEnv, known: readonly string[]): { name: string; meant: string }[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || known.includes(name)) return []
    const written = name.toUpperCase().replaceAll('-', '_')
    const meant = known.find(
      (setting) => !COMMON.has(setting) && edits(written, setting) <= (setting.length < LONG ? 1 : 2),
    )
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** How many letters must be added, removed or replaced. Two swapped letters are one edit. */
function edits(a: string, b: string): number {
  const letters = (text: string): string => Array.from(text).sort().join('')
  const distance = leven(a, b)
  return distance === 2 && letters(a) === letters(b) ? 1 : distance
}
