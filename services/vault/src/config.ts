import { readFileSync, statSync } from 'node:fs'
import { trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { commonEnv, EnvError, integer, parseEnv, port } from '@vault-and-tracker/service-kit/env'
import { errorCode, isError } from '@vault-and-tracker/service-kit/errors'
import { z } from 'zod'
import { parsePublicUrls } from './http/authorities.ts'
import { type Keyring, KeyringError, parseKeyringFile, parseKeyringList } from './keyring/keyring.ts'

/**
 * At least 32 printable characters, many different ones, in no sequence and without a part of eight that comes twice: what a
 * person types is not a token.
 */
const adminToken = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable ASCII without spaces', abort: true })
  .min(32, { error: 'must have at least 32 characters; make one with: openssl rand -hex 32', abort: true })
  .refine((token) => !isGuessable(token), 'is too easy to guess; make one with: openssl rand -hex 32')
  .refine(
    (token) => !/change.?me|example|placeholder/i.test(token),
    'is a placeholder; make one with: openssl rand -hex 32',
  )

function isGuessable(token: string): boolean {
  const steps = Array.from(token.slice(1), (character, i) => character.charCodeAt(0) - token.charCodeAt(i))
  return new Set(token).size < 8 || new Set(steps).size < 8 || /(.{8}).*\1/.test(token)
}

/** The value is not repeated in a message: what is no URL may be a secret in the wrong place. */
const publicUrls = z
  .string()
  .transform((list, context) => {
    const urls = parsePublicUrls(list)
    if (urls !== undefined) return urls
    context.addIssue('must be a comma-separated list of https:// or http:// URLs without a path')
    return z.NEVER
  })
  .default([])

const keyringEnv = {
  VAULT_KEYRING_FILE: z.string().optional(),
  VAULT_KEYRING: z.string().optional(),
  VAULT_KEYRING_ACTIVE: z.string().optional(),
}

const serviceEnv = z.object({
  ...commonEnv,
  ...keyringEnv,
  PORT: port(4200),
  PUBLIC_URL: publicUrls,
  ADMIN_TOKEN: adminToken,
  ADMIN_TOKEN_PREVIOUS: adminToken.optional(),
  FETCH_RATE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 300 }),
  SIGNATURE_FAILURE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 100 }),
  ADMIN_FAILURE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 10 }),
  WRITE_RATE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 600 }),
  MAX_ENVIRONMENT_BYTES: integer({ min: 65_536, max: 64 * 1024 ** 2, fallback: 4 * 1024 ** 2 }),
  MAX_UNREAD_BYTES: integer({ min: 0, max: 1024 ** 3, fallback: 64 * 1024 ** 2 }),
  MAX_ENVIRONMENTS: integer({ min: 1, max: 10_000, fallback: 100 }),
  MAX_VERSIONS: integer({ min: 1, max: 100_000, fallback: 100 }),
})

const commandEnv = z.object({
  ...keyringEnv,
  DATABASE_URL: commonEnv.DATABASE_URL,
  LOG_LEVEL: commonEnv.LOG_LEVEL.default('warn'),
})

type Env = Readonly<Record<string, string | undefined>>

/** The variables that the service reads, each described in `.env.example`. */
export const CONFIG_VARIABLES: readonly string[] = Object.keys(serviceEnv.shape)

/** The configuration of the service. */
export type Config = ReturnType<typeof readConfig>

/**
 * Reads the configuration of the service, keyring included.
 *
 * @param env usually `process.env`
 * @throws EnvError listing every problem at once; no value is ever repeated
 */
export function readConfig(env: Env) {
  const { settings, keyring, problems } = read(serviceEnv, env)
  if (settings === undefined || keyring === undefined) throw new EnvError(problems)
  return Object.freeze({ ...withoutKeys(settings), keyring, proxies: trustedProxies(settings.TRUSTED_PROXIES) })
}

/** The configuration of an operator's command, which needs the database and the keyring but no token and no port. */
export function readCommandConfig(env: Env) {
  const { settings, keyring, problems } = read(commandEnv, env)
  if (settings === undefined || keyring === undefined) throw new EnvError(problems)
  return Object.freeze({ DATABASE_URL: settings.DATABASE_URL, LOG_LEVEL: settings.LOG_LEVEL, keyring })
}

/** The keyring alone, for a command that works as the owner of the tables. */
export function readKeyringConfig(env: Env): Keyring {
  const { keyring, problems } = read(z.object(keyringEnv), env)
  if (keyring === undefined) throw new EnvError(problems)
  return keyring
}

/** The configuration of a command that makes the first keyring: everything but the keyring. */
export function readCommandConfigWithoutKeyring(env: Env) {
  const { DATABASE_URL, LOG_LEVEL, VAULT_KEYRING_FILE: keyringFile } = parseEnv(commandEnv, env)
  return Object.freeze({ DATABASE_URL, LOG_LEVEL, keyringFile })
}

/** The keyring is parsed; its text goes no further than this file. */
function withoutKeys<Settings extends { VAULT_KEYRING?: string | undefined }>(settings: Settings) {
  const rest = { ...settings }
  delete rest.VAULT_KEYRING
  return rest
}

function read<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, env: Env) {
  const problems: string[] = []
  const settings = attempt(problems, () => parseEnv(schema, env))
  const keyring = attempt(problems, () => readKeyring(env))
  return { settings, keyring, problems }
}

/** Collects what is wrong instead of stopping at the first. */
function attempt<T>(problems: string[], step: () => T): T | undefined {
  try {
    return step()
  } catch (error) {
    if (error instanceof EnvError) problems.push(...error.problems)
    else if (error instanceof KeyringError) problems.push(...error.problems)
    else problems.push(isError(error) ? error.message : 'unknown problem')
    return undefined
  }
}

function readKeyring(env: Env): Keyring {
  const file = env['VAULT_KEYRING_FILE'] ?? ''
  const list = env['VAULT_KEYRING'] ?? ''
  if (file !== '' && list !== '')
    throw new KeyringError(['VAULT_KEYRING_FILE, VAULT_KEYRING: set one of them, not both'])
  if (list !== '') return parseKeyringList(list, env['VAULT_KEYRING_ACTIVE'] ?? '')
  if (file === '') {
    throw new KeyringError([
      'VAULT_KEYRING_FILE: is required and not set (or VAULT_KEYRING with VAULT_KEYRING_ACTIVE); the vault generates no key by itself',
    ])
  }
  return parseKeyringFile(readPrivateFile(file))
}

function readPrivateFile(file: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & 0o077) !== 0)
      throw new KeyringError([`VAULT_KEYRING_FILE: ${file} is accessible to others; run: chmod 600 ${file}`])
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof KeyringError) throw error
    throw new KeyringError([`VAULT_KEYRING_FILE: ${file} cannot be read (${errorCode(error) ?? 'unknown error'})`], {
      cause: error,
    })
  }
}
