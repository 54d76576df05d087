import { errorCode, UnavailableError } from './errors.ts'
import { isPostgresUnavailable, isRedisUnavailable } from './unavailable.ts'

/** By SQLSTATE: what an operator does about it. NAME is the variable that holds the URL. */
const BY_SQLSTATE: Readonly<Record<string, string>> = {
  '28000': 'Postgres refuses the user or the password: correct NAME.',
  '28P01': 'Postgres refuses the user or the password: correct NAME.',
  '3D000': 'This database does not exist: create it, or correct NAME.',
  '42501': 'The role has no rights here: run the migrate command with RUNTIME_ROLE set to the role in NAME.',
  '42P01': 'The tables of this release are missing: run the migrate command first.',
  '42703': 'The tables of this release are missing: run the migrate command first.',
}

/**
 * What an operator does about an error that kept a service or a command from starting; undefined where nothing is known.
 *
 * @param variable the name of the variable with the URL of the database
 */
export function startHint(error: unknown, variable = 'DATABASE_URL'): string | undefined {
  const known = BY_SQLSTATE[errorCode(error) ?? '']
  if (known !== undefined) return known.replace('NAME', variable)
  const dependency = error instanceof UnavailableError ? error.dependency : undefined
  if (dependency === 'redis') return 'Redis does not answer: start it, or correct REDIS_URL.'
  // Errors of the system may come from both; only those of Redis get here as an UnavailableError.
  if (dependency === 'postgres' || isPostgresUnavailable(error))
    return `Postgres does not answer: start it, or correct ${variable}.`
  return isRedisUnavailable(error) ? 'Redis does not answer: start it, or correct REDIS_URL.' : undefined
}
