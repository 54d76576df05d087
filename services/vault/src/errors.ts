import { type ApiError, createErrors } from '@vault-and-tracker/service-kit/core/errors'

/**
 * Every error of the vault: the one table shared by the code, the documentation and openapi.json.
 *
 * `bare` codes are those of the specification: their body is `{"error": code}`. The others also have a `message` for
 * people.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    bare: false,
    meaning: 'The body, a parameter or the HTTP message itself is malformed.',
  },
  invalid_public_key: { status: 400, bare: true, meaning: 'The public key is not an acceptable Ed25519 key.' },
  unauthorized: { status: 401, bare: false, meaning: 'The admin token or the session is missing or wrong.' },
  invalid_id_token: {
    status: 401,
    bare: false,
    meaning: 'The ID token is malformed, expired, already used, or not signed by a trusted issuer for this vault.',
  },
  no_trust_rule: { status: 401, bare: false, meaning: 'No trust rule accepts the claims of the ID token.' },
  missing_signature: { status: 401, bare: true, meaning: 'A signature header is missing or empty.' },
  unknown_project: { status: 401, bare: true, meaning: 'The signing project does not exist.' },
  invalid_signature: {
    status: 401,
    bare: true,
    meaning: 'The signature, its headers, its key or the digest is wrong.',
  },
  expired: {
    status: 401,
    bare: true,
    meaning: "`created` differs by more than five minutes from the vault's clock, which is that of its Redis.",
  },
  replayed_nonce: { status: 401, bare: true, meaning: 'The nonce was already used.' },
  forbidden: {
    status: 403,
    bare: false,
    meaning: 'The scope of the key, or the role of the administrator, does not allow this.',
  },
  not_found: { status: 404, bare: false, meaning: 'The path, project, key, secret or version does not exist.' },
  method_not_allowed: { status: 405, bare: false, meaning: 'The path does not support the method; see Allow.' },
  key_exists: {
    status: 409,
    bare: false,
    meaning: 'The project already has a key with this name, or this public key.',
  },
  too_many_keys: { status: 409, bare: false, meaning: 'The project has reached the maximum number of keys.' },
  project_exists: { status: 409, bare: true, meaning: 'A project with this name already exists.' },
  trust_rule_exists: { status: 409, bare: false, meaning: 'The project already has a trust rule with this name.' },
  invalid_parent: {
    status: 409,
    bare: false,
    meaning: 'The environment cannot inherit from this one: it would inherit from itself, or from too many.',
  },
  too_many_webhooks: { status: 409, bare: false, meaning: 'The project has reached the maximum number of webhooks.' },
  too_many_trust_rules: {
    status: 409,
    bare: false,
    meaning: 'The project or the vault has reached the maximum number of trust rules.',
  },
  too_many_reference_rules: {
    status: 409,
    bare: false,
    meaning: 'The project has reached the maximum number of reference rules.',
  },
  unresolved_reference: {
    status: 409,
    bare: false,
    meaning: 'A value refers to a secret that is missing, not allowed or circular, or becomes too large.',
  },
  payload_too_large: {
    status: 413,
    bare: false,
    meaning: 'The body is larger than 512 KiB, or the project would exceed its storage limits.',
  },
  unsupported_media_type: {
    status: 415,
    bare: false,
    meaning: 'The body is not application/json, or it is compressed.',
  },
  misdirected_request: { status: 421, bare: false, meaning: 'PUBLIC_URL does not contain the host of the request.' },
  rate_limited: {
    status: 429,
    bare: true,
    meaning:
      'A rate limit of this IP address, project or administrator was exceeded. Retry-After has the seconds to wait.',
  },
  internal_error: { status: 500, bare: false, meaning: 'The vault failed. Its log shows why.' },
  decryption_failed: {
    status: 500,
    bare: false,
    meaning: 'A stored value does not decrypt. No values were returned.',
  },
  unavailable: {
    status: 503,
    bare: false,
    meaning:
      'Postgres, Redis or the key service is unavailable, too many writes are waiting, or the project does not read its responses. A write may have succeeded.',
  },
} as const satisfies Record<string, { status: number; bare: boolean; meaning: string }>

/** A code of the table. */
export type ErrorCode = keyof typeof ERRORS

/** Creates and recognises errors of the table. A message never repeats the input. */
export const { apiError, isApiError } = createErrors<ErrorCode>(ERRORS)

/** The error for something that does not exist, or that the administrator may not know of. */
export function noSuch(
  what:
    | 'project'
    | 'key'
    | 'secret'
    | 'version'
    | 'webhook'
    | 'trust rule'
    | 'reference rule'
    | 'administrator'
    | 'session',
): ApiError<ErrorCode> {
  return apiError('not_found', `There is no such ${what}.`)
}

class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly seconds: number

  constructor(seconds: number, cause: unknown) {
    super('a dependency failed recently and is not retried yet', { cause })
    this.seconds = seconds
  }
}

/** The error for something that is unavailable for a known time, at least a second. */
export function unavailableFor(ms: number, message: string, cause?: unknown): ApiError<ErrorCode> {
  return apiError('unavailable', message, { cause: new RetryAfter(Math.max(1, Math.ceil(ms / 1000)), cause) })
}

/** The seconds after which a client may retry, one by default. */
export function retryAfterOf({ cause }: ApiError<ErrorCode>): number {
  return cause instanceof RetryAfter ? cause.seconds : 1
}

type RefusedCaller = { readonly actor: string; readonly projectId: string }

class Refused extends Error {
  override readonly name = 'Refused'
  readonly caller: RefusedCaller

  constructor(caller: RefusedCaller) {
    super(`${caller.actor} may not do this`)
    this.caller = caller
  }
}

/** The error for an authenticated caller who may not do something, with the data for the audit log. */
export function forbidden(actor: string, projectId: string, message?: string): ApiError<ErrorCode> {
  return apiError('forbidden', message, { cause: new Refused({ actor, projectId }) })
}

/**
 * The error for a request signed with an expired or revoked key: that of an unknown key, with the data for the audit
 * log.
 */
export function endedKey(actor: string, projectId: string): ApiError<ErrorCode> {
  return apiError('invalid_signature', undefined, { cause: new Refused({ actor, projectId }) })
}

/** The error for a signature of the scheme or host that a proxy received, with a message for the holder of the key. */
export function hiddenOrigin(cause: unknown): ApiError<ErrorCode> {
  const message =
    'The signature covers a different scheme or host than the vault received. Add the proxy to TRUSTED_PROXIES of the vault, and let it send X-Forwarded-Proto.'
  return apiError('invalid_signature', message, { cause })
}

/** The caller that an error refuses; undefined if they were not identified. */
export function refusedCaller({ cause }: ApiError<ErrorCode>): RefusedCaller | undefined {
  return cause instanceof Refused ? cause.caller : undefined
}
