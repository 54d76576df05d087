import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { z } from 'zod'
import { PROJECT_NAME } from '../projects/projects.ts'

/** Parts of requests and answers that several features share. */

/** The answer of what succeeded and has nothing else to say. */
export const ok = z.strictObject({ ok: z.literal(true) }).meta({ id: 'Ok' })

/** What such an endpoint returns. */
export const OK = { ok: true } as const

/** The parameters of a path with an id. Any other text is an id of nothing, and goes no further. */
export const idParams = z.object({ id: z.string().refine(isId) })

/** The parameters of a path with a project, whose id is its name. */
export const projectParams = z.object({ id: z.string().regex(PROJECT_NAME) })

/** A time as ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 })

/** A UUIDv7 (RFC 9562). */
export const uuid = z.uuidv7()
