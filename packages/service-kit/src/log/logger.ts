import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { errorCode, isError } from '../core/errors.ts'
import { createOutageLog } from './outage-log.ts'

export type { Logger } from 'pino'

const HIDDEN = '[hidden]'

/** Headers that carry credentials. */
const SECRET_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  '["set-cookie"]',
  'signature',
  '["signature-input"]',
  '["signature-agent"]',
  '["x-api-key"]',
]

/** Members that are censored at the top level and one level below, in case a secret is logged by mistake. */
const SECRET_MEMBERS = [
  'apikey',
  'passkey',
  'password',
  'privateKey',
  'token',
  'adminToken',
  'value',
  'secret',
  'email',
]

/**
 * Hides credentials in a text: passkeys and API keys in URLs (query and path), API and bearer tokens, passwords of
 * connection URLs.
 * Info hashes, which also have 40 hex digits, stay readable.
 */
export function hideSecrets(text: string): string {
  return text
    .replace(/\b(api_?(?:key|token)|passkey|rsskey|token|password|secret)(=|%3[dD])[^&\s"'\\]+/gi, `$1$2${HIDDEN}`)
    .replace(/\/(announce|scrape)\/[0-9a-f]{40}(?![0-9a-f])/gi, `/$1/${HIDDEN}`)
    .replace(/\/[0-9a-f]{40}\/(announce|scrape)/gi, `/${HIDDEN}/$1`)
    .replace(/vtt(?:_|%5f)[0-9a-z]+/gi, HIDDEN)
    .replace(/\b(Bearer\s+)[^\s"'\\]+/gi, `$1${HIDDEN}`)
    .replace(/\b((?:postgres(?:ql)?|rediss?):\/\/[^:@/\s"'\\]*:)[^@/\s"'\\]+@/gi, `$1${HIDDEN}@`)
}

/** Only these members of an error are logged: `detail` and `where` of a Postgres error repeat the row. */
function serializeError(error: unknown): unknown {
  if (!isError(error)) return { type: typeof error }
  const { type, message, stack } = stdSerializers.err(error)
  const code = errorCode(error)
  const cause = isError(error.cause) ? serializeError(error.cause) : undefined
  return { type, message, stack, ...(code && { code }), ...(cause !== undefined && { cause }) }
}

/**
 * A structured logger: one JSON object per line. Lines about an unavailable Postgres or Redis are summarised once a second.
 *
 * Three measures keep secrets out: listed members and headers are censored; errors are reduced to type, message, code, stack
 * and cause; credentials are hidden in every finished line.
 *
 * @param options `destination` defaults to standard output
 */
export function createLogger(options: { name: string; level: string; destination?: DestinationStream }): Logger {
  const censored = [
    ...SECRET_HEADERS.flatMap((header) => {
      const member = header.startsWith('[') ? header : `.${header}`
      return [`headers${member}`, `req.headers${member}`, `res.headers${member}`]
    }),
    ...SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`]),
  ]
  const config = {
    name: options.name,
    level: options.level,
    base: { name: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError, error: serializeError },
    redact: { paths: censored, censor: HIDDEN },
    hooks: { streamWrite: hideSecrets, logMethod: createOutageLog() },
  }
  return options.destination ? pino(config, options.destination) : pino(config)
}
