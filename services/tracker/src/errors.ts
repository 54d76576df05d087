import { createErrors } from '@vault-and-tracker/service-kit/core/errors'

/** Every error code of the REST API, with its HTTP status and the meaning that the OpenAPI document shows. */
export const ERRORS = {
  BAD_REQUEST: { status: 400, meaning: 'A parameter or the body is malformed; the message names it.' },
  UNAUTHORIZED: { status: 401, meaning: 'You are not signed in, or the username or password is wrong.' },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    meaning:
      'The password is correct. Finish within five minutes with POST /api/auth/second-factor and the cookie `pending`.',
  },
  FORBIDDEN: { status: 403, meaning: 'Your account does not have permission, or the request came from another site.' },
  SECOND_FACTOR_MISSING: { status: 403, meaning: 'Staff need a second factor. Add one to your account first.' },
  NOT_FOUND: { status: 404, meaning: 'The resource does not exist.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, but not with this method; see the Allow header.' },
  TOO_SLOW: { status: 408, meaning: 'The body arrived too slowly. Send it again over a faster connection.' },
  CONFLICT: { status: 409, meaning: 'The resource already exists, or its state does not allow the change.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is too large, or exceeds the remaining quota.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The endpoint does not accept this content type.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests. Wait for the number of seconds in Retry-After.' },
  INTERNAL_ERROR: { status: 500, meaning: 'The tracker failed. Its log shows why.' },
  UNAVAILABLE: {
    status: 503,
    meaning: 'Postgres or Redis is unavailable, or the service is busy; a write may have been carried out.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>

/** A code of the table above. */
export type ErrorCode = keyof typeof ERRORS

/** Creates an error of the table, to throw from anywhere in the tracker. A message never repeats the input. */
export const { apiError, isApiError } = createErrors<ErrorCode>(ERRORS)
