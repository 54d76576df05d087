import { Fault } from './fault.mjs'
import { dataDirectory } from './paths.mjs'

/** What the user may set, read and checked before anything is started. */
export function readSettings(env = process.env) {
  const problems = []
  const port = (name, fallback) => {
    const text = env[name] || String(fallback)
    const value = Number(text)
    if (/^\d+$/.test(text) && value > 0 && value < 65_536) return value
    problems.push(`${name} is ${JSON.stringify(text)} and has to be a port, 1 to 65535`)
    return fallback
  }
  const url = (name, protocols) => {
    const text = env[name] || undefined
    if (text === undefined || (URL.canParse(text) && protocols.includes(new URL(text).protocol))) return text
    // The value stays out of the message: it may hold a password.
    problems.push(`${name} has to be a URL that starts with ${protocols.map((name) => `${name}//`).join(' or ')}`)
    return undefined
  }
  const settings = {
    dataDir: dataDirectory(env),
    vaultPort: port('VAULT_PORT', 4200),
    trackerPort: port('TRACKER_PORT', 6969),
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
    logLevel: env.LOG_LEVEL || 'info',
  }
  if (settings.vaultPort === settings.trackerPort) problems.push('VAULT_PORT and TRACKER_PORT have to differ')
  if (problems.length > 0) throw new Fault(problems.join('\n'))
  return settings
}
