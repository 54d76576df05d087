import { readFileSync } from 'node:fs'
import type { RedisOptions } from 'ioredis'
import { errorCode } from '../core/errors.ts'

const SHAPE =
  'must be redis://HOST:PORT, rediss://HOST:PORT with TLS, or redis+sentinel://HOST:PORT,HOST:PORT/NAME for the master NAME'

/** The last @ ends the credentials, as in other URLs. */
const PARTS = /^redis(s?)(\+sentinel)?:\/\/(?:([^/?#]*)@)?([^@/?#]+)((?:\/[^/?#]*)*)(?:\?([^#]*))?$/i

const PARAMETERS = ['ssl_ca_certs', 'sentinel_username', 'sentinel_password'] as const

/** ioredis derives the types of replies from the option. */
type Target = Omit<RedisOptions, 'replyMapping'>

/** A URL that is not one of a Redis. The message never repeats the URL, which contains a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError'
}

/**
 * The options of ioredis for a URL:
 *
 * - `redis://[user:password@]host[:port][/database]`, or `rediss://` with TLS
 * - `redis+sentinel://[user:password@]sentinel[:port][,sentinel[:port]…]/master[/database]`, or `rediss+sentinel://` with
 *   TLS for Redis and the sentinels
 *
 * The parameter `ssl_ca_certs` names a file with the accepted CAs (PEM); `sentinel_username` and `sentinel_password` are for
 * sentinels that require them.
 *
 * @throws RedisUrlError
 */
export function parseRedisUrl(text: string): Target {
  const [, tls, sentinel, credentials = '', hosts = '', path = '', query = ''] = PARTS.exec(text) ?? []
  if (tls === undefined) throw new RedisUrlError(SHAPE)
  const parameters = new URLSearchParams(query)
  if ([...parameters.keys()].some((name) => !PARAMETERS.some((known) => known === name)))
    throw new RedisUrlError(`may only have the parameters ${PARAMETERS.join(', ')}`)
  const [first, ...others] = hosts.split(',').map((host) => parseHost(host, sentinel === undefined ? 6379 : 26_379))
  const segments = path.split('/').slice(1).map(decoded)
  const common = { ...parseCredentials(credentials), ...(tls !== '' && { tls: tlsOptions(parameters) }) }
  if (tls === '' && parameters.has('ssl_ca_certs')) throw new RedisUrlError('needs TLS (rediss) for ssl_ca_certs')
  if (first === undefined || (sentinel === undefined && others.length > 0)) throw new RedisUrlError(SHAPE)
  if (sentinel === undefined) {
    if (parameters.has('sentinel_username') || parameters.has('sentinel_password'))
      throw new RedisUrlError('may only have sentinel_username and sentinel_password with +sentinel')
    return { ...common, ...first, db: parseDatabase(segments) }
  }
  const [name = '', ...rest] = segments
  if (name === '') throw new RedisUrlError(SHAPE)
  return {
    ...common,
    db: parseDatabase(rest),
    name,
    sentinels: [first, ...others],
    sentinelUsername: parameters.get('sentinel_username') ?? undefined,
    sentinelPassword: parameters.get('sentinel_password') ?? undefined,
    ...(common.tls !== undefined && { sentinelTLS: common.tls, enableTLSForSentinelMode: true }),
  }
}

/** What is wrong with a URL; undefined if nothing is. */
export function redisUrlProblem(text: string): string | undefined {
  try {
    parseRedisUrl(text)
    return undefined
  } catch (error) {
    if (error instanceof RedisUrlError) return error.message
    throw error
  }
}

function parseHost(text: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : { hostname: '', port: '' }
  if (hostname === '') throw new RedisUrlError(SHAPE)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) }
}

function parseCredentials(text: string): Pick<Target, 'username' | 'password'> {
  if (text === '') return {}
  const colon = text.indexOf(':')
  const [username, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  return { username: decoded(username), password: decoded(password) }
}

function parseDatabase([text = '', ...more]: readonly string[]): number {
  if (!/^\d{0,5}$/.test(text) || more.length > 0) throw new RedisUrlError(SHAPE)
  return Number(text)
}

function tlsOptions(parameters: URLSearchParams): NonNullable<Target['tls']> {
  const file = parameters.get('ssl_ca_certs')
  if (file === null) return {}
  try {
    return { ca: readFileSync(file) }
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error'
    throw new RedisUrlError(`names a file in ssl_ca_certs that cannot be read (${reason})`, { cause: error })
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RedisUrlError(SHAPE)
  }
}
