import { z } from 'zod'
import { isAddressRange } from './client-address.ts'

/** All problems of a configuration at once, so that an operator can fix them together. */
export class EnvError extends Error {
  override readonly name = 'EnvError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration has ${String(problems.length)} problem(s):\n${problems.map((p) => `  - ${p}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Reads a configuration from environment variables.
 *
 * An empty string counts as not set, because Compose files produce it for an unset variable. Problems do not contain
 * values, because a value may be a secret.
 *
 * @param schema an object schema whose keys are the variables' names
 * @param env the environment, usually `process.env`
 * @returns the typed, frozen configuration
 * @throws EnvError listing every problem: the name of the variable and the reason
 */
export function parseEnv<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const present = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => {
      const value = env[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
  const result = schema.safeParse(present, { reportInput: false })
  if (!result.success) {
    throw new EnvError(
      result.error.issues.map((issue) => {
        const name = issue.path.map(String).join('.')
        const missing = name !== '' && present[name] === undefined
        return `${name === '' ? 'environment' : name}: ${missing ? 'is required and not set' : issue.message}`
      }),
    )
  }
  return Object.freeze(result.data)
}

/**
 * Reads the configuration when a service starts. Where it has problems, prints them and exits with status 1.
 *
 * @param read reads the configuration from `process.env`, or throws EnvError
 */
export function configOrExit<Config>(read: (env: Readonly<Record<string, string | undefined>>) => Config): Config {
  try {
    return read(process.env)
  } catch (error) {
    if (!(error instanceof EnvError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** `true`, `false`, `1`, `0`, `yes`, `no`, `on` or `off`. */
export function flag(fallback: boolean): z.ZodType<boolean> {
  return z
    .stringbool({
      error: 'must be true or false',
      truthy: ['true', '1', 'yes', 'on'],
      falsy: ['false', '0', 'no', 'off'],
    })
    .default(fallback)
}

/** A whole number within bounds, both included. */
export function integer(bounds: { min: number; max: number; fallback: number }): z.ZodType<number> {
  const message = `must be a whole number from ${String(bounds.min)} to ${String(bounds.max)}`
  return z
    .string()
    .regex(/^-?\d{1,15}$/, message)
    .transform(Number)
    .refine((n) => n >= bounds.min && n <= bounds.max, message)
    .default(bounds.fallback)
}

/** A TCP port, 0 for any free one. */
export function port(fallback: number): z.ZodType<number> {
  return integer({ min: 0, max: 65_535, fallback })
}

/** A connection URL with one of the given schemes. Messages do not repeat it, because it holds a password. */
export function connectionUrl(...schemes: readonly string[]): z.ZodType<string> {
  const message = `must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), message)
}

/** Comma-separated addresses and CIDR ranges; none by default. */
export function addressRanges(): z.ZodType<readonly string[]> {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.every((part) => /^[0-9a-fA-F.:]+(\/\d{1,3})?$/.test(part)), {
      error: 'must be a comma-separated list of addresses or CIDR ranges',
      // What does not even look like an address may be a secret in the wrong place, and is not repeated.
      abort: true,
    })
    .superRefine((parts, context) => {
      const wrong = parts.find((part) => !isAddressRange(part))
      if (wrong !== undefined) context.addIssue(`${wrong} is neither an address nor a CIDR range`)
    })
    .default([])
}

/** The variables that both services have. */
export const commonEnv = {
  HOST: z.string().default('0.0.0.0'),
  DATABASE_URL: connectionUrl('postgres', 'postgresql'),
  DATABASE_POOL_SIZE: integer({ min: 1, max: 500, fallback: 10 }),
  REDIS_URL: connectionUrl('redis', 'rediss'),
  TRUSTED_PROXIES: addressRanges(),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be one of trace, debug, info, warn, error, fatal, silent',
    )
    .default('info'),
  /** The commit that the image was built from; the image sets it. */
  REVISION: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores')
    .default('unknown'),
}
