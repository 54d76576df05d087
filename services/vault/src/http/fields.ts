import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { ENV, KEY_NAME, PROJECT_NAME } from '../access/names.ts'
import { ACCESS, type Scope } from '../access/project-caller.ts'

/** The answer of an operation without a result. */
export const ok = z.strictObject({ ok: z.literal(true) }).meta({ id: 'Ok' })
export const OK = { ok: true } as const

/** The parameters of a path with an id. Any other text does not exist. */
export const idParams = z.object({ id: z.string().refine(isId) })

/** The parameters of a path with a project, whose id is its name. */
export const projectParams = z.object({ id: z.string().regex(PROJECT_NAME) })

/** The name of an environment in a request. */
export const env = z
  .string()
  .regex(ENV, 'must be 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit')

/** The name of a key in a request. */
export const keyName = z
  .string()
  .regex(KEY_NAME, 'must be 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit')

/** The permissions of a key in a request. */
export const scope = z.strictObject({
  access: z.enum(ACCESS).default('read-write'),
  envs: z
    .array(z.string().regex(ENV, 'must be names of environments'))
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .meta({ description: 'null for all environments.' }),
})

/** The permissions of a key in a response. */
export const scopeAnswer = z.strictObject({ access: z.enum(ACCESS), envs: z.array(z.string()).nullable() })

/** Returns the permissions of a key for a response. */
export function presentScope({ access, envs }: Scope): z.input<typeof scopeAnswer> {
  return { access, envs: envs === null ? null : [...envs] }
}

/** A public key in a request. A value of any other type is an invalid key, not a malformed request. */
export const publicKey = z
  .custom<unknown>((key) => key !== undefined, 'is required')
  .transform((key) => (typeof key === 'string' ? key : ''))
  .meta({ type: 'string', description: '64 hex digits, or a JWK as a JSON string.' })

/** A time as ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 })

/** When something expires, as a request gives it; null for never. */
export const expiry = z.iso
  .datetime({ offset: true, error: 'must be a time as in RFC 3339' })
  .transform((text) => new Date(text))
  .nullable()

/** The type of {@link expiry} in the OpenAPI document. */
export const EXPIRY = { type: ['string', 'null'], format: 'date-time' } as const satisfies object

/** A UUIDv7 (RFC 9562). */
export const uuid = z.uuidv7()

const LIMIT = 'must be a whole number from 1 to 1000'

/** The maximum number of rows of a page. */
export const pageLimit = z
  .string()
  .regex(/^[0-9]{1,4}$/, LIMIT)
  .transform(Number)
  .refine((n) => n >= 1 && n <= 1000, LIMIT)
  .default(100)
  .meta({ type: 'integer', minimum: 1, maximum: 1000, default: 100 })
