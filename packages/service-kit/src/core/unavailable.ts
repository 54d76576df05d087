import { errorCode, isError, UnavailableError } from './errors.ts'

/** SQLSTATEs: connection lost or refused; server starting, stopping or read-only; out of connections or memory; timeouts. */
const SQLSTATES = /^(08|53|57P|57014|25006|55P03|58)/
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
/** Messages of pg, which has no codes for these errors. */
const POSTGRES_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed and is not queryable)/
/** Messages of ioredis for a command that did not reach Redis or got no reply. ioredis has no codes for these errors. */
const REDIS_MESSAGE =
  /^(Connection is closed|Command timed out|Stream isn't writeable|Reached the max retries per request|connect E|read E|write E|LOADING|BUSY|READONLY|MISCONF|OOM|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|UNBLOCKED|TRYAGAIN|Socket timeout|Command aborted|Cluster isn't ready|Failed to refresh slots cache|None of startup nodes is available|Too many Cluster redirections)|attempted to access a non local key/

/**
 * Whether an error means that Postgres or Redis is unavailable, as opposed to an error in the query. It knows the errors of
 * both drivers, so stores do not translate them.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof UnavailableError || isPostgresUnavailable(error) || isRedisUnavailable(error)
}

/** Codes of Node for a certificate that it does not accept. */
const CERTIFICATE_CODES = /^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_|ERR_TLS_CERT_)/

/** Whether the server was reached, but its certificate is not accepted. */
export function isCertificateRefused(error: unknown): boolean {
  return CERTIFICATE_CODES.test(errorCode(error) ?? '')
}

/** The error of PgBouncer for a client that configures its session. It has the SQLSTATE of all errors of PgBouncer. */
export function isRefusedByPooler(error: unknown): boolean {
  return isError(error) && error.message.startsWith('unsupported startup parameter')
}

/** Whether an error of pg means that Postgres is unavailable, as opposed to an error in the statement. */
export function isPostgresUnavailable(error: unknown): boolean {
  if (!isError(error) || isRefusedByPooler(error)) return false
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isPostgresUnavailable)
  const code = errorCode(error) ?? ''
  return (
    (code.length === 5 && SQLSTATES.test(code)) ||
    SYSTEM_CODES.has(code) ||
    isCertificateRefused(error) ||
    isSocketMissing(error) ||
    POSTGRES_MESSAGE.test(error.message)
  )
}

/** Whether the Unix socket does not exist, as while Postgres is stopped. */
function isSocketMissing(error: Error): boolean {
  return errorCode(error) === 'ENOENT' && 'syscall' in error && error.syscall === 'connect'
}

/** Whether an error of ioredis means that Redis is unavailable, as opposed to an error in the command. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!isError(error)) return false
  // The error of a discarded transaction lists the errors of its commands, for example when Redis is full. With a Cluster,
  // that list may contain the error itself.
  const previous: unknown[] =
    'previousErrors' in error && Array.isArray(error.previousErrors)
      ? error.previousErrors.filter((each) => isError(each) && !('previousErrors' in each))
      : []
  if (previous.length > 0) return previous.some(isRedisUnavailable)
  const code = errorCode(error)
  return (
    REDIS_MESSAGE.test(error.message) ||
    error.name === 'MaxRetriesPerRequestError' ||
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET'
  )
}
