import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { ENV, PROJECT_NAME } from '../access/names.ts'
import { ACCESS } from '../access/project-caller.ts'

/** The answer of an operation without a result. */
export const ok = z.strictObject({ ok: z.literal(true) }).meta({ id: 'Ok' })
export const OK = { ok: true } as const

/** The parameters of a path with an id. Any other text does not exist. */
export const idParams = z.object({ id: z.string().refine(isId) })

/** The parameters of a path with a project, whose id is its name. */
export const projectParams = z.object({ id: z.string().regex(PROJECT_NAME) })

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
