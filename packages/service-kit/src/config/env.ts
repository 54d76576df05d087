import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { errorCode } from '../core/errors.ts'
import { isAddressRange } from '../http/client-address.ts'
import { redisUrlProblem } from '../redis/url.ts'

/** Lists every problem of a configuration, so that an operator can fix them together. */
export class EnvError extends Error {
  override readonly name = 'EnvError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration has ${String(problems.length)} problem(s):\n${problems.map((p) => `  - ${p}`).join('\n')}`)
    this.problems = problems
  }
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads a configuration from environment variables. An empty string counts as not set, because Compose produces it for an
 * unset variable. A setting marked with `.meta({ secret: true })` may be in a file instead; see `readSecret`. Messages
 * never contain values, which may be secrets.
 *
 * @param schema an object schema whose keys are the names of the variables
 * @throws EnvError listing every problem
 */
export function parseEnv<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Env,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const present: Record<string, string> = {}
  const unreadable = new Map<string, string>()
  for (const [name, setting] of Object.entries(schema.shape)) {
    try {
      const value = isSecret(setting) ? readSecret(name, env) : env[name]
      if (value !== undefined && value !== '') present[name] = value
    } catch (error) {
      if (!(error instanceof EnvError)) throw error
      unreadable.set(name, error.problems.join())
    }
  }
  const result = schema.safeParse(present, { reportInput: false })
  if (result.success && unreadable.size === 0) return Object.freeze(result.data)
  const invalid = (result.error?.issues ?? []).flatMap((issue) => {
    const name = issue.path.map(String).join('.')
    if (unreadable.has(name)) return []
    const missing = name !== '' && present[name] === undefined
    return [`${name === '' ? 'environment' : name}: ${missing ? 'is required and not set' : issue.message}`]
  })
  throw new EnvError([...unreadable.values(), ...invalid])
}

/** Whether a setting is marked as a secret. */
export function isSecret(setting: z.core.$ZodType): boolean {
  return z.globalRegistry.get(setting)?.['secret'] === true
}

/**
 * Reads a secret from the variable `name`, or from the file that `<name>_FILE` names, without the newline at its end.
 * Neither path nor content is in a message, in case the variable contains the secret itself.
 *
 * @throws EnvError if both are set, or the file is empty, cannot be read, or belongs to this user and others can read it
 */
export function readSecret(name: string, env: Env): string | undefined {
  const [value, path] = [env[name] || undefined, env[`${name}_FILE`] || undefined]
  if (path === undefined) return value
  if (value !== undefined) throw new EnvError([`${name}, ${name}_FILE: set one of them, not both`])
  const text = readPrivate(path, (problem) => new EnvError([`${name}_FILE: ${problem}`])).replace(/\r?\n$/, '')
  if (text === '') throw new EnvError([`${name}_FILE: the file is empty`])
  return text
}

/** Docker and Kubernetes let other users read a mounted secret, but then its owner is not the user of the service. */
function readPrivate(path: string, problem: (text: string) => EnvError): string {
  try {
    const { mode, uid } = statSync(path)
    if ((mode & 0o077) !== 0 && uid === process.getuid?.())
      throw problem('other users can access the file; run chmod 600 on it')
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof EnvError) throw error
    throw problem(`the file cannot be read (${errorCode(error) ?? 'unknown error'})`)
  }
}

/** Reads the configuration when a service starts. Prints its problems and exits with status 1 if it has any. */
export function configOrExit<Config>(read: (env: Env) => Config): Config {
  try {
    return read(process.env)
  } catch (error) {
    if (!(error instanceof EnvError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** The version in a package.json. */
export function readVersion(manifest: URL): string {
  const { version = 'unknown' } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }
  return version
}

/** `true`, `false`, `1`, `0`, `yes`, `no`, `on` or `off`. */
export function flag(fallback: boolean) {
  return z
    .stringbool({
      error: 'must be true or false',
      truthy: ['true', '1', 'yes', 'on'],
      falsy: ['false', '0', 'no', 'off'],
    })
    .default(fallback)
}

/** A whole number within bounds, both included. */
export function integer({ min, max, fallback }: { min: number; max: number; fallback: number }) {
  const message = `must be a whole number from ${String(min)} to ${String(max)}`
  return z
    .string()
    .regex(/^-?\d{1,15}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
    .default(fallback)
}

/** A limit on requests; 0 switches it off. */
export const limit = (fallback: number) => integer({ min: 0, max: 1_000_000, fallback })

/** A TCP port; 0 for any free one. */
export const port = (fallback: number) => integer({ min: 0, max: 65_535, fallback })

/** A connection URL with one of the given schemes. Messages do not repeat it, because it contains a password. */
export function connectionUrl(...schemes: readonly string[]) {
  const message = `must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), message)
}

/** A URL of Postgres. Parameters of libpq name files for TLS. */
export function postgresUrl() {
  return connectionUrl('postgres', 'postgresql').refine(
    (text) => !URL.canParse(text) || TLS_FILES.every((name) => isReadable(new URL(text).searchParams.get(name))),
    `names a file in ${TLS_FILES.join(', ')} that cannot be read`,
  )
}

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey']

function isReadable(file: string | null): boolean {
  try {
    if (file !== null) accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** A URL of Redis, with Sentinel or without. Messages do not repeat it, because it contains a password. */
export function redisUrl() {
  return z.string().superRefine((text, context) => {
    const problem = redisUrlProblem(text)
    if (problem !== undefined) context.addIssue(problem)
  })
}

/**
 * URLs of Redis: one, with Sentinel or without, or those of nodes of a Redis Cluster. Commas between Sentinels belong to
 * their URL.
 */
export function redisUrls() {
  return z
    .string()
    .transform((text) => text.split(/,(?=\s*rediss?(?:\+sentinel)?:)/i).map((url) => url.trim()))
    .superRefine((urls, context) => {
      const problems = urls.map(redisUrlProblem).filter((problem) => problem !== undefined)
      for (const problem of new Set(problems)) context.addIssue(problem)
      if (urls.length > 1 && urls.some((url) => url.includes('+sentinel:')))
        context.addIssue('must be one URL with Sentinels, or nodes of a Redis Cluster without')
    })
    .default([])
}

/** Comma-separated values. */
export function list() {
  return z.string().transform((text) => text.split(',').map((part) => part.trim()))
}

/** Comma-separated addresses and CIDR ranges; none by default. */
function addressRanges() {
  return list()
    .refine((parts) => parts.every((part) => /^[0-9a-fA-F.:]+(\/\d{1,3})?$/.test(part)), {
      error: 'must be a comma-separated list of addresses or CIDR ranges',
      // A value that does not look like an address may be a misplaced secret, so it is not repeated.
      abort: true,
    })
    .superRefine((parts, context) => {
      const wrong = parts.find((part) => !isAddressRange(part))
      if (wrong !== undefined) context.addIssue(`${wrong} is neither an address nor a CIDR range`)
    })
    .default([])
}

/**
 * Names the group of some settings. `pnpm settings` writes settings by group into `.env.example`, the README tables and
 * docker-compose.yml, with their description (`.describe`) and default; the default of a secret is never written.
 */
export function group<Shape extends Record<string, z.ZodType>>(name: string, settings: Shape): Shape {
  const grouped = Object.entries(settings).map(([key, schema]) => [key, schema.meta({ group: name })])
  return Object.fromEntries(grouped) as Shape
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The settings that both services have. */
export const commonEnv = {
  ...group('Network', {
    HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
    TRUSTED_PROXIES: addressRanges().describe(
      'Comma-separated addresses or CIDR ranges of proxies whose `X-Forwarded-*` headers are trusted.',
    ),
  }),
  ...group('Postgres and Redis', {
    DATABASE_URL: postgresUrl()
      .meta({ secret: true })
      .describe('URL of the database, with the run-time role. Migrations use `MIGRATION_DATABASE_URL`.'),
    DATABASE_POOL_SIZE: integer({ min: 1, max: 500, fallback: 10 }).describe(
      'Maximum connections to Postgres per process.',
    ),
    REDIS_URL: redisUrl()
      .meta({ secret: true })
      .describe(
        'URL of Redis or its Sentinels; see docs/compatibility.md. Run Redis with `appendonly yes` and ' +
          '`maxmemory-policy noeviction`.',
      ),
  }),
  ...group('Operation', {
    LOG_LEVEL: z
      .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
      .default('info')
      .describe(`One of ${LOG_LEVELS.join(', ')}. With \`debug\`, the reasons of refused requests are logged.`),
    REVISION: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores')
      .default('unknown')
      .describe('Commit the service was built from, shown in `/metrics`. The image sets it.'),
  }),
}
