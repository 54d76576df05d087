import {
  commonEnv,
  EnvError,
  flag,
  group,
  integer,
  limit,
  parseEnv,
  port,
  readSecret,
} from '@vault-and-tracker/service-kit/config/env'
import { isError } from '@vault-and-tracker/service-kit/core/errors'
import { trustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { z } from 'zod'
import { isIssuerUrl } from './exchange/trust-rules.ts'
import { parsePublicUrls } from './http/authorities.ts'
import { createKeyring, type Keyring, KeyringError } from './keyring/keyring.ts'
import { parseKeyring } from './keyring/local-keys.ts'
import type { TransitSettings } from './keyring/transit.http.ts'
import { isTransitKeyName } from './keyring/transit-keys.ts'
import type { ProviderSettings } from './sign-in/provider.ts'
import { parseRoleMapping, type RoleMapping } from './sign-in/role-mapping.ts'

/**
 * At least 32 printable characters: many different ones, no sequence, and no group of eight that occurs twice. This refuses
 * tokens that a person typed.
 */
const adminToken = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable ASCII without spaces', abort: true })
  .min(32, { error: 'must have at least 32 characters; create one with: openssl rand -hex 32', abort: true })
  .refine((token) => !isGuessable(token), 'is too easy to guess; create one with: openssl rand -hex 32')
  .refine(
    (token) => !/change.?me|example|placeholder/i.test(token),
    'is a placeholder; create one with: openssl rand -hex 32',
  )

function isGuessable(token: string): boolean {
  const steps = Array.from(token.slice(1), (character, i) => character.charCodeAt(0) - token.charCodeAt(i))
  return new Set(token).size < 8 || new Set(steps).size < 8 || /(.{8}).*\1/.test(token)
}

/** Messages do not repeat the value: if it is not a URL, it may be a misplaced secret. */
const publicUrls = z
  .string()
  .transform((list, context) => {
    const urls = parsePublicUrls(list)
    if (urls !== undefined) return urls
    context.addIssue('must be a comma-separated list of https:// or http:// URLs without a path')
    return z.NEVER
  })
  .default([])

/** Requests carry data keys and the token, so plain HTTP is allowed on this machine only. */
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

const keyringEnv = group('Keys', {
  VAULT_KEYRING: z
    .string()
    .optional()
    .meta({ secret: true })
    .describe(
      'Key-encryption keys, `{"active":"2026-11","keys":{"2026-11":"<openssl rand -base64 32>"}}` or `id:base64,id:base64`, ' +
        'best in a file (`VAULT_KEYRING_FILE`), which the command `keyring` can change. Required unless `TRANSIT_URL` is set.',
    ),
  VAULT_KEYRING_ACTIVE: z
    .string()
    .optional()
    .describe('ID of the active key, if `VAULT_KEYRING` has the form `id:base64,id:base64`.'),
  TRANSIT_URL: transitUrl
    .optional()
    .describe(
      'URL of a service with the transit API of HashiCorp Vault or OpenBao, instead of the keyring or in addition ' +
        'to it.',
    ),
  TRANSIT_KEY: z
    .string()
    .refine(isTransitKeyName, 'must be 1 to 40 letters, digits, dots, dashes and underscores')
    .optional()
    .describe('Name of the transit key. Required with `TRANSIT_URL`.'),
  TRANSIT_MOUNT: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/,
      'must be the path of a mount, such as transit',
    )
    .default('transit')
    .describe('Path where the transit engine is mounted.'),
  TRANSIT_NAMESPACE: z
    .string()
    .regex(/^[!-~]{1,200}$/, 'must be printable ASCII without spaces')
    .optional()
    .describe('Namespace of the transit engine.'),
  TRANSIT_TOKEN: token
    .optional()
    .meta({ secret: true })
    .describe(
      'Token that may use the transit key. `TRANSIT_TOKEN_FILE` is read for each request, so the token can be renewed.',
    ),
  TRANSIT_WRAPS: flag(true).describe('`false`: the transit key only unwraps existing data keys; the keyring wraps.'),
})

const signInEnv = group('Sign-in', {
  OIDC_ISSUER: z
    .string()
    .optional()
    .describe(
      'URL of the OIDC provider with which administrators can sign in, in addition to tokens. Requires `PUBLIC_URL` and ' +
        'the settings below; see docs/guide-vault.md.',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .regex(/^[ -~]{1,255}$/, 'must be printable ASCII')
    .optional()
    .describe('Client ID of the vault at the provider.'),
  OIDC_CLIENT_SECRET: token.optional().meta({ secret: true }).describe('Client secret of the vault.'),
  OIDC_ROLES: z
    .string()
    .transform((text, context) => {
      const parsed = parseRoleMapping(text)
      if ('mapping' in parsed) return parsed.mapping
      context.addIssue(parsed.problem)
      return z.NEVER
    })
    .optional()
    .describe(
      'Roles by group: `vault-admins=administrator; shop-team=editor:shop,shop-eu; security=auditor`. Members of several groups have all their roles.',
    ),
  OIDC_GROUPS_CLAIM: z
    .string()
    .regex(/^[ -~]{1,200}$/, 'must be printable ASCII')
    .default('groups')
    .describe('Claim with the groups, or a JSON Pointer to it: `/realm_access/roles`.'),
  OIDC_SCOPES: z
    .string()
    .regex(/^openid( [!-~]+)*$/, 'must be scopes separated by spaces, the first of which is openid')
    .default('openid profile email')
    .describe('Requested scopes.'),
  OIDC_LABEL: z
    .string()
    .regex(/^[^\p{Cc}\p{Surrogate}]{1,50}$/u, 'must be 1 to 50 characters without control characters')
    .default('OIDC')
    .describe('Name of the provider on the button "Sign in with …".'),
})

/** All settings, in the order of the generated tables; see `group`. */
export const settings = z.object({
  ...group('Network', {
    PUBLIC_URL: publicUrls.describe(
      'Comma-separated URLs that clients use, such as `https://vault.example.org`. Requests for other hosts get ' +
        '421. Default: `localhost`, `127.0.0.1` and `[::1]`, with any port.',
    ),
    PORT: port(4200).describe('Port to listen on.'),
  }),
  ...commonEnv,
  ...group('Administrators', {
    ADMIN_TOKEN: adminToken
      .meta({ secret: true })
      .describe('Admin token, at least 32 characters. Create one with `openssl rand -hex 32`.'),
    ADMIN_TOKEN_PREVIOUS: adminToken
      .optional()
      .meta({ secret: true })
      .describe('Previous token, still accepted while clients switch to the new one.'),
  }),
  ...keyringEnv,
  ...signInEnv,
  ...group('Trust rules', {
    OIDC_ALLOW_LOOPBACK: flag(false).describe(
      '`true`: trust rules and `OIDC_ISSUER` may name an issuer with an `http://` URL of this machine. For tests.',
    ),
  }),
  ...group('Webhooks', {
    WEBHOOK_ALLOW_PRIVATE: flag(false).describe(
      '`true`: webhooks may have private addresses of your network, and `http://` URLs.',
    ),
  }),
  ...group('Limits', {
    FETCH_RATE_LIMIT: limit(300).describe(
      '`GET /v1/secrets` requests per minute for each address; 0 for no limit. The limit for `/v1/secrets/changes` ' +
        'is ten times higher.',
    ),
    SIGNATURE_FAILURE_LIMIT: limit(100).describe(
      'Failed signatures per minute for each address and project; 0 for no limit. The limit for an address across ' +
        'all projects is ten times higher and also counts refused ID tokens.',
    ),
    ADMIN_FAILURE_LIMIT: limit(10).describe('Wrong admin tokens per address in five minutes; 0 for no limit.'),
    WRITE_RATE_LIMIT: limit(600).describe(
      'Writes and deletions per minute, per project and per administrator, and sign-ins per address; 0 for no limit.',
    ),
    MAX_ENVIRONMENT_BYTES: integer({ min: 65_536, max: 64 * 1024 ** 2, fallback: 4 * 1024 ** 2 }).describe(
      'Maximum size of an environment in bytes.',
    ),
    MAX_SECRETS: integer({ min: 1, max: 10_000, fallback: 2_000 }).describe(
      'Maximum number of secrets per environment.',
    ),
    MAX_ENVIRONMENTS: integer({ min: 1, max: 10_000, fallback: 100 }).describe(
      'Maximum number of environments per project.',
    ),
    MAX_VERSIONS: integer({ min: 1, max: 100_000, fallback: 100 }).describe(
      'Maximum number of versions per secret. The oldest are deleted.',
    ),
    MAX_UNREAD_BYTES: integer({ min: 0, max: 1024 ** 3, fallback: 64 * 1024 ** 2 }).describe(
      'Bytes of responses that the clients of a project may leave unread before its fetches get 503; 0 for no limit.',
    ),
  }),
})

const commandEnv = z.object({
  ...keyringEnv,
  DATABASE_URL: commonEnv.DATABASE_URL,
  LOG_LEVEL: commonEnv.LOG_LEVEL.default('warn'),
})

type Env = Readonly<Record<string, string | undefined>>

/** The configuration of the service. */
export type Config = ReturnType<typeof readConfig>

/** Reads the configuration of the service, including the keyring. @throws EnvError listing every problem, without values */
export function readConfig(env: Env) {
  const { values, keys } = read(settings, env)
  const problems: string[] = []
  const signIn = attempt(problems, () => readSignIn(values))
  if (problems.length > 0) throw new EnvError(problems)
  return Object.freeze({ ...withoutKeys(values), ...keys, signIn, proxies: trustedProxies(values.TRUSTED_PROXIES) })
}

/** How administrators sign in with OIDC. */
export type SignInSettings = ProviderSettings & { readonly label: string; readonly mapping: RoleMapping }

/** @throws EnvError listing every problem */
function readSignIn(values: z.output<typeof settings>): SignInSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: mapping } = values
  const { OIDC_CLIENT_SECRET: clientSecret } = values
  if (issuer === undefined) {
    const set = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const
    const others = set.filter((name) => values[name] !== undefined)
    if (others.length > 0) throw new EnvError([`OIDC_ISSUER: is required with ${others.join(', ')}`])
    return undefined
  }
  const problems: string[] = []
  if (!isIssuerUrl(issuer, values.OIDC_ALLOW_LOOPBACK))
    problems.push('OIDC_ISSUER: must be an https:// URL without a query')
  if (values.PUBLIC_URL.length === 0) problems.push('PUBLIC_URL: is required with OIDC_ISSUER')
  if (clientId === undefined) problems.push('OIDC_CLIENT_ID: is required with OIDC_ISSUER')
  if (mapping === undefined) problems.push('OIDC_ROLES: is required with OIDC_ISSUER')
  if (clientSecret === undefined) problems.push('OIDC_CLIENT_SECRET: is required with OIDC_ISSUER')
  if (clientId === undefined || mapping === undefined || clientSecret === undefined || problems.length > 0)
    throw new EnvError(problems)
  const { OIDC_SCOPES: scopes, OIDC_GROUPS_CLAIM: groupsClaim, OIDC_LABEL: label } = values
  return { issuer, clientId, clientSecret, scopes, groupsClaim, label, mapping }
}

/** The configuration of a command: the database and the keyring, without admin token and port. */
export function readCommandConfig(env: Env) {
  const { values, keys } = read(commandEnv, env)
  return Object.freeze({ DATABASE_URL: values.DATABASE_URL, LOG_LEVEL: values.LOG_LEVEL, ...keys })
}

/** The keys only, for a command that connects as the owner of the tables. */
export function readKeyringConfig(env: Env): Keys {
  return read(z.object(keyringEnv), env).keys
}

/** The configuration of the command that creates the first keyring. */
export function readCommandConfigWithoutKeyring(env: Env) {
  const { DATABASE_URL, LOG_LEVEL } = parseEnv(commandEnv.pick({ DATABASE_URL: true, LOG_LEVEL: true }), env)
  return Object.freeze({ DATABASE_URL, LOG_LEVEL, keyringFile: env['VAULT_KEYRING_FILE'] || undefined })
}

type Secrets = { [Name in 'VAULT_KEYRING' | 'TRANSIT_TOKEN' | 'OIDC_CLIENT_SECRET']?: string | undefined }

/** Drops the text of keys and tokens: keys are parsed already, and the token is read again when it is used. */
function withoutKeys<Values extends Secrets>(values: Values) {
  const rest = { ...values }
  delete rest.VAULT_KEYRING
  delete rest.TRANSIT_TOKEN
  delete rest.OIDC_CLIENT_SECRET
  return rest
}

/** The keys of this process, and the transit service if one is configured. */
type Keys = {
  readonly keyring: Keyring
  readonly transit: (TransitSettings & { readonly wraps: boolean }) | undefined
}

function read<Shape extends typeof keyringEnv>(schema: z.ZodObject<Shape>, env: Env) {
  const problems: string[] = []
  const values = attempt(problems, () => parseEnv(schema, env))
  const keys = attempt(problems, () => parseEnv(z.object(keyringEnv), env))
  const keyring = keys && attempt(problems, () => readKeyring(keys))
  const transit = keys && attempt(problems, () => ({ values: readTransit(keys, env) }))
  if (values === undefined || keyring === undefined || transit === undefined || problems.length > 0)
    throw new EnvError([...new Set(problems)])
  return { values, keys: { keyring, transit: transit.values } }
}

/** Runs a step and collects its problems, so that all of them are reported together. */
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

type KeyringValues = z.output<z.ZodObject<typeof keyringEnv>>

function readKeyring({ VAULT_KEYRING: text, VAULT_KEYRING_ACTIVE: active, TRANSIT_URL }: KeyringValues): Keyring {
  if (text !== undefined) return parseKeyring(text, active ?? '')
  if (TRANSIT_URL !== undefined) return createKeyring([])
  throw new KeyringError([
    'VAULT_KEYRING: is required and not set; it can be in a file (VAULT_KEYRING_FILE), and the vault does not generate it',
  ])
}

function readTransit(values: KeyringValues, env: Env): Keys['transit'] {
  const { TRANSIT_URL: url, TRANSIT_KEY: key, TRANSIT_TOKEN: first } = values
  if (url === undefined) return undefined
  if (key === undefined) throw new KeyringError(['TRANSIT_KEY: is required with TRANSIT_URL'])
  if (first === undefined) throw new KeyringError(['TRANSIT_TOKEN: is required with TRANSIT_URL'])
  const { TRANSIT_MOUNT: mount, TRANSIT_NAMESPACE: namespace, TRANSIT_WRAPS: wraps } = values
  return { url, key, mount, namespace, readToken: () => readTransitToken(env), wraps }
}

function readTransitToken(env: Env): string {
  const { success, data } = token.safeParse(readSecret('TRANSIT_TOKEN', env))
  if (!success) throw new KeyringError(['TRANSIT_TOKEN_FILE: the file does not contain a token'])
  return data
}
