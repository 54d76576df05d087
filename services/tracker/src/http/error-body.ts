import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../errors.ts'

/** The body of every error. */
export const errorBodySchema = z
  .object({ error: z.object({ code: z.enum(Object.keys(ERRORS)), message: z.string() }) })
  .meta({ id: 'Error' })

/** Creates the body of an error. */
export function errorBody({ code, message }: ApiError<ErrorCode>): z.output<typeof errorBodySchema> {
  return { error: { code, message } }
}
