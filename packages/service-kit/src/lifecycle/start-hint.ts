import { errorCode, UnavailableError } from '../core/errors.ts'
import {
  isCertificateRefused,
  isPostgresUnavailable,
  isRedisUnavailable,
  isRefusedByPooler,
} from '../core/unavailable.ts'

/** Remedies by SQLSTATE. NAME is the variable with the URL. */
const BY_SQLSTATE: Readonly<Record<string, string>> = {
  '28000': 'Postgres refused the user or the password: correct NAME.',
  '28P01': 'Postgres refused the user or the password: correct NAME.',
  '3D000': 'This database does not exist: create it, or correct NAME.',
  '42501': 'The role lacks permissions: run the migrate command with RUNTIME_ROLE set to the role in NAME.',
  // Postgres also says so if the role may not use the schema.
  '42P01':
    'The tables of this release are missing, or not for this role: run the migrate command, with RUNTIME_ROLE set to the role in NAME.',
  '42703': 'The tables of this release are missing: run the migrate command first.',
}

/**
 * The remedy for an error that kept a service or a command from starting; undefined if unknown.
 *
 * @param variable the name of the variable with the URL of the database
 */
export function startHint(error: unknown, variable = 'DATABASE_URL'): string | undefined {
  const known = BY_SQLSTATE[errorCode(error) ?? '']
  if (known !== undefined) return known.replace('NAME', variable)
  if (isRefusedByPooler(error))
    return `This is PgBouncer: add the parameter pgbouncer=true to ${variable}, and set the timeouts of the role.`
  const dependency = error instanceof UnavailableError ? error.dependency : undefined
  const cause = error instanceof UnavailableError ? error.cause : error
  const certificate =
    dependency === 'redis'
      ? certificateHint(cause, 'Redis', 'ssl_ca_certs', 'REDIS_URL')
      : certificateHint(cause, 'Postgres', 'sslrootcert', variable)
  if (certificate !== undefined) return certificate
  if (dependency === 'redis') return 'Redis does not respond: start it, or correct REDIS_URL.'
  // System errors may come from either; those of Redis arrive here as an UnavailableError.
  if (dependency === 'postgres' || isPostgresUnavailable(error))
    return `Postgres does not respond: start it, or correct ${variable}.`
  return isRedisUnavailable(error) ? 'Redis does not respond: start it, or correct REDIS_URL.' : undefined
}

/** The remedy for a certificate that is not accepted. `parameter` of the URL names a file with accepted CAs. */
function certificateHint(error: unknown, server: string, parameter: string, variable: string): string | undefined {
  if (!isCertificateRefused(error)) return undefined
  const code = errorCode(error)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${server} is for another host: write a host of the certificate in ${variable}.`
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${server} has expired: renew it.`
  return `The certificate of ${server} is not trusted: name a file with its CA in the parameter ${parameter} of ${variable}.`
}
