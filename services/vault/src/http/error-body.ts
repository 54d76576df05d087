import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../errors.ts'

/** The body of every error, for the OpenAPI document. */
export const errorBodySchema = z
  .strictObject({ error: z.enum(Object.keys(ERRORS)), message: z.string().optional() })
  .meta({ id: 'Error' })

/** Makes the body of an error. */
export function errorBody({ code, message }: ApiError<ErrorCode>): z.output<typeof errorBodySchema> {
  return ERRORS[code].bare ? { error: code } : { error: code, message }
}
