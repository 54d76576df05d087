import { readFileSync, statSync } from 'node:fs'
import { trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { commonEnv, EnvError, flag, integer, parseEnv, port } from '@vault-and-tracker/service-kit/env'
import { errorCode, isError } from '@vault-and-tracker/service-kit/errors'
import { z } from 'zod'
import { parsePublicUrls } from './http/authorities.ts'
import { createKeyring, type Keyring, KeyringError } from './keyring/keyring.ts'
import { parseKeyringFile, parseKeyringList } from './keyring/local-keys.ts'
import type { TransitSettings } from './keyring/transit.http.ts'
import { isTransitKeyName } from './keyring/transit-keys.ts'

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

/** Data keys and the token pass in it: without TLS, only on this machine. */
const transitUrl = z
  .string()
  .refine((text) => {
    if (!URL.canParse(text)) return false
    const { protocol, hostname, pathname, search, hash, username, password } = new URL(text)
    const isPlain = pathname === '/' && search + hash + username + password === ''
    return isPlain && (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname)))
  }, 'must be an https:// URL without a path; http:// only for this machine')
  .transform((text) => new URL(text).origin)

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

const token = z.string().regex(/^[!-~]{1,4096}$/, 'must be printable ASCII without spaces')

const keyringEnv = {
  VAULT_KEYRING_FILE: z.string().optional(),
  VAULT_KEYRING: z.string().optional(),
  VAULT_KEYRING_ACTIVE: z.string().optional(),
  TRANSIT_URL: transitUrl.optional(),
  TRANSIT_KEY: z
    .string()
    .refine(isTransitKeyName, 'must be 1 to 40 letters, digits, dots, dashes and underscores')
    .optional(),
  TRANSIT_MOUNT: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/, 'must be the path of a mount, like transit')
    .default('transit'),
  TRANSIT_NAMESPACE: z
    .string()
    .regex(/^[!-~]{1,200}$/, 'must be printable ASCII without spaces')
    .optional(),
  TRANSIT_TOKEN: token.optional(),
  TRANSIT_TOKEN_FILE: z.string().optional(),
  TRANSIT_WRAPS: flag(true),
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
  MAX_SECRETS: integer({ min: 1, max: 10_000, fallback: 2_000 }),
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
  const { settings, keys } = read(serviceEnv, env)
  return Object.freeze({ ...withoutKeys(settings), ...keys, proxies: trustedProxies(settings.TRUSTED_PROXIES) })
}

/** The configuration of an operator's command, which needs the database and the keyring but no token and no port. */
export function readCommandConfig(env: Env) {
  const { settings, keys } = read(commandEnv, env)
  return Object.freeze({ DATABASE_URL: settings.DATABASE_URL, LOG_LEVEL: settings.LOG_LEVEL, ...keys })
}

/** The keys alone, for a command that works as the owner of the tables. */
export function readKeyringConfig(env: Env): Keys {
  return read(z.object(keyringEnv), env).keys
}

/** The configuration of a command that makes the first keyring: everything but the keyring. */
export function readCommandConfigWithoutKeyring(env: Env) {
  const { DATABASE_URL, LOG_LEVEL, VAULT_KEYRING_FILE: keyringFile } = parseEnv(commandEnv, env)
  return Object.freeze({ DATABASE_URL, LOG_LEVEL, keyringFile })
}

/** The keys are parsed, and tokens are read where they are used; their text goes no further than this file. */
function withoutKeys<Settings extends { VAULT_KEYRING?: string | undefined; TRANSIT_TOKEN?: string | undefined }>(
  settings: Settings,
) {
  const rest = { ...settings }
  delete rest.VAULT_KEYRING
  delete rest.TRANSIT_TOKEN
  return rest
}

/** The keys of this process, and where those of a service are. */
type Keys = {
  readonly keyring: Keyring
  readonly transit: (TransitSettings & { readonly wraps: boolean }) | undefined
}

function read<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, env: Env) {
  const problems: string[] = []
  const settings = attempt(problems, () => parseEnv(schema, env))
  const keyring = attempt(problems, () => readKeyring(env))
  const transit = attempt(problems, () => ({ settings: readTransit(env) }))
  if (settings === undefined || keyring === undefined || transit === undefined || problems.length > 0)
    throw new EnvError([...new Set(problems)])
  return { settings, keys: { keyring, transit: transit.settings } }
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
  if (file === '' && (env['TRANSIT_URL'] ?? '') !== '') return createKeyring([])
  if (file === '') {
    throw new KeyringError([
      'VAULT_KEYRING_FILE: is required and not set (or VAULT_KEYRING with VAULT_KEYRING_ACTIVE); the vault generates no key by itself',
    ])
  }
  return parseKeyringFile(readPrivateFile(file, 'VAULT_KEYRING_FILE'))
}

function readTransit(env: Env): Keys['transit'] {
  if ((env['TRANSIT_URL'] ?? '') === '') return undefined
  const settings = parseEnv(z.object(keyringEnv), env)
  const { TRANSIT_URL: url, TRANSIT_KEY: key, TRANSIT_TOKEN: given, TRANSIT_TOKEN_FILE: file } = settings
  if (url === undefined) return undefined
  if (key === undefined) throw new KeyringError(['TRANSIT_KEY: is required with TRANSIT_URL'])
  if ((given === undefined) === (file === undefined))
    throw new KeyringError(['TRANSIT_TOKEN, TRANSIT_TOKEN_FILE: set one of them with TRANSIT_URL'])
  const readToken = (): string => given ?? readTokenFile(file ?? '')
  readToken()
  const { TRANSIT_MOUNT: mount, TRANSIT_NAMESPACE: namespace, TRANSIT_WRAPS: wraps } = settings
  return { url, key, mount, namespace, readToken, wraps }
}

function readTokenFile(file: string): string {
  const text = readPrivateFile(file, 'TRANSIT_TOKEN_FILE').trim()
  if (!token.safeParse(text).success) throw new KeyringError([`TRANSIT_TOKEN_FILE: ${file} holds no token`])
  return text
}

function readPrivateFile(file: string, variable: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & 0o077) !== 0)
      throw new KeyringError([`${variable}: ${file} is accessible to others; run: chmod 600 ${file}`])
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof KeyringError) throw error
    throw new KeyringError([`${variable}: ${file} cannot be read (${errorCode(error) ?? 'unknown error'})`], {
      cause: error,
    })
  }
}
