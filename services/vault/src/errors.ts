import { createErrors } from '@vault-and-tracker/service-kit/core/errors'

/**
 * Every error the vault answers with: the one table that the code, the documentation and openapi.json share.
 *
 * `bare` codes are those of the specification: their body is `{"error": code}` and nothing else. The others carry a
 * `message` for the person who reads them.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    bare: false,
    meaning: 'The body, a parameter or the HTTP message itself is malformed.',
  },
  invalid_public_key: { status: 400, bare: true, meaning: 'The public key is not an acceptable Ed25519 key.' },
  unauthorized: { status: 401, bare: false, meaning: 'The admin token is missing or wrong.' },
  missing_signature: { status: 401, bare: true, meaning: 'A signature header is absent or empty.' },
  unknown_project: { status: 401, bare: true, meaning: 'The signing project is not in the vault.' },
  invalid_signature: {
    status: 401,
    bare: true,
    meaning: 'The signature, its headers, its key or the digest is wrong.',
  },
  expired: {
    status: 401,
    bare: true,
    meaning: '`created` differs by more than five minutes from the clock of the vault, which is that of its Redis.',
  },
  replayed_nonce: { status: 401, bare: true, meaning: 'The nonce was used before.' },
  forbidden: {
    status: 403,
    bare: false,
    meaning: 'The scope of the key, or the role of the administrator, does not allow this.',
  },
  not_found: { status: 404, bare: false, meaning: 'There is no such path, project, secret or version.' },
  method_not_allowed: { status: 405, bare: false, meaning: 'The path has no such method; Allow lists its methods.' },
  project_exists: { status: 409, bare: true, meaning: 'A project with this name exists.' },
  payload_too_large: {
    status: 413,
    bare: false,
    meaning: 'The body is larger than 512 KiB, or the project would store more than its limits allow.',
  },
  unsupported_media_type: {
    status: 415,
    bare: false,
    meaning: 'The body is not application/json, or it is compressed.',
  },
  misdirected_request: {
    status: 421,
    bare: false,
    meaning: 'The host of the request is not one that PUBLIC_URL names.',
  },
  rate_limited: {
    status: 429,
    bare: true,
    meaning:
      'Too many requests or failures from this address, or failures or writes of this project or administrator; see Retry-After.',
  },
  internal_error: { status: 500, bare: false, meaning: 'A fault of the vault; the log has the reason.' },
  decryption_failed: {
    status: 500,
    bare: false,
    meaning: 'A stored value does not decrypt; nothing of it is answered.',
  },
  unavailable: {
    status: 503,
    bare: false,
    meaning:
      'Postgres, Redis or the service of the keys is unavailable, too many writes wait, or the project asks for more than it reads; a write may have been carried out.',
  },
} as const satisfies Record<string, { status: number; bare: boolean; meaning: string }>

/** A code of the table. */
export type ErrorCode = keyof typeof ERRORS

/** Makes an error of the table, to throw, and recognises one. A message never repeats the input. */
export const { apiError, isApiError } = createErrors<ErrorCode>(ERRORS)
