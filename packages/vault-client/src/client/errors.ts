/** The codes of the vault's error table, with a message for the operator of an application. */
const REMEDIES = {
  invalid_request: 'the vault does not accept these parameters',
  invalid_public_key: 'the public key is not an Ed25519 key that the vault accepts',
  unauthorized: 'the vault does not accept this admin token',
  invalid_id_token: 'the vault does not accept this ID token',
  no_trust_rule: 'no trust rule of the vault accepts this ID token; ask an administrator to add one',
  missing_signature: 'the vault received no signature; check whether a proxy removes the Signature headers',
  unknown_project: 'the vault has no project with this name; ask an administrator to register it',
  invalid_signature:
    'the vault refused the signature; the private key does not belong to the registered public key, or it was replaced, revoked or expired',
  expired: "this machine's clock and the vault's differ by more than five minutes",
  replayed_nonce: 'the vault has received this request before',
  forbidden: 'this key or token may not do that; ask an administrator for a wider scope',
  not_found: 'there is no such project, key, secret, version, webhook or trust rule',
  method_not_allowed: 'this vault does not support the request; it may be older than this client',
  key_exists: 'the project already has a key with this name, or this public key',
  too_many_keys: 'the project has reached the maximum number of keys; revoke one first',
  project_exists: 'a project with this name already exists',
  trust_rule_exists: 'the project already has a trust rule with this name',
  too_many_webhooks: 'the project has reached the maximum number of webhooks; remove one first',
  too_many_trust_rules: 'the maximum number of trust rules is reached; remove one first',
  invalid_parent: 'an environment cannot inherit from itself, or from more than four others',
  too_many_reference_rules: 'the project has reached the maximum number of reference rules; remove one first',
  unresolved_reference: 'a value refers to a secret that is missing, not allowed or circular',
  payload_too_large: 'the value is longer than 64 KiB, or the environment is full',
  unsupported_media_type: 'the vault did not receive JSON; check whether a proxy changes the body',
  misdirected_request: 'the vault does not serve this address; use the URL that its PUBLIC_URL names',
  rate_limited: 'too many requests or failures from this address, or writes of this project; try again later',
  internal_error: 'the vault failed; its log shows the reason',
  decryption_failed: 'a stored value cannot be decrypted; contact the administrator of the vault',
  unavailable: 'the vault is busy, or cannot reach its database, Redis or key service; try again later',
} as const

/** Prefixes for messages of the vault that are more specific than the code. */
const BEFORE_MESSAGE: Readonly<Partial<Record<VaultErrorCode, string>>> = {
  invalid_request: REMEDIES.invalid_request,
  invalid_id_token: 'the vault does not accept this ID token',
  invalid_signature: 'the vault refused the signature',
  not_found: 'the vault did not find this',
  key_exists: 'the vault did not add the key',
  too_many_keys: 'the vault did not add the key',
  unresolved_reference: 'the vault cannot resolve a reference',
  payload_too_large: 'the vault does not store this',
  decryption_failed: REMEDIES.decryption_failed,
  unavailable: 'the vault cannot do this now',
}

/** Messages of these codes that only repeat the meaning of the code in the vault's error table. */
const GENERAL_MESSAGES: ReadonlySet<string> = new Set([
  'The ID token is malformed, expired, already used, or not signed by a trusted issuer for this vault.',
  'The signature, its headers, its key or the digest is wrong.',
  'The body, a parameter or the HTTP message itself is malformed.',
  'The path, project, key, secret or version does not exist.',
  'The project already has a key with this name, or this public key.',
  'The project has reached the maximum number of keys.',
  'A value refers to a secret that is missing, not allowed or circular, or becomes too large.',
  'The body is larger than 512 KiB, or the project would exceed its storage limits.',
  'A stored value does not decrypt. No values were returned.',
  'Postgres, Redis or the key service is unavailable, too many writes are waiting, or the project does not read its responses. A write may have succeeded.',
])

export type VaultErrorCode = keyof typeof REMEDIES
export const VAULT_ERROR_CODES = Object.keys(REMEDIES) as readonly VaultErrorCode[]

/**
 * Codes that this client adds to the vault's error table. Browsers do not report why a connection failed, so there
 * every failed connection is `unreachable`.
 */
export type ClientErrorCode =
  | 'unknown_host'
  | 'connection_refused'
  | 'tls_failed'
  | 'unreachable'
  | 'timeout'
  | 'invalid_answer'
  | 'invalid_configuration'

type Details = {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  readonly clockDifferenceMs?: number | undefined
  readonly cause?: unknown
}

/**
 * A request that the vault refused, or that failed. The message never contains the private key or the value of a
 * secret.
 */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  /** A newer vault may return codes that this client does not know. */
  readonly code: VaultErrorCode | ClientErrorCode | (string & {})
  /** The HTTP status, or undefined if there was no response. */
  readonly status: number | undefined
  /** The time from Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** For `expired`: how far this machine's clock is ahead of the vault's, in milliseconds; negative if it is behind. */
  readonly clockDifferenceMs: number | undefined

  constructor(code: string, message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.clockDifferenceMs = details.clockDifferenceMs
  }
}

/** The readable parts of an unsuccessful response. */
export type Refusal = {
  readonly status: number
  /** The `error` of its body. */
  readonly code: string | undefined
  readonly message: string | undefined
  readonly retryAfterMs: number | undefined
  /** How far the local clock is ahead of the response's Date. */
  readonly clockDifferenceMs: number | undefined
}

/** Creates the error for an unsuccessful response, with the vault's message if that is more specific than the code. */
export function errorOfAnswer(refusal: Refusal): VaultError {
  const { status, code = 'invalid_answer', retryAfterMs, clockDifferenceMs } = refusal
  if (isOfNoVault(refusal)) return new VaultError('invalid_answer', NO_VAULT, { status })
  const isClock = code === 'expired' && clockDifferenceMs !== undefined
  const text = isClock ? clockMessage(clockDifferenceMs) : textOf(refusal)
  return new VaultError(code, text, { status, retryAfterMs, ...(isClock && { clockDifferenceMs }) })
}

const NO_VAULT = 'this server is not a vault: it returned 404 with an unexpected body; check the URL'

/**
 * Whether a 404 comes from another kind of server. Error codes of vaults, including newer ones, are lower-case words.
 */
function isOfNoVault({ status, code }: Refusal): boolean {
  return status === 404 && !/^[a-z]+(_[a-z]+)*$/.test(code ?? '')
}

/** Maximum length of a text of the server in a message. */
const MAX_QUOTED = 500

function textOf({ status, code: anyCode, message: anyMessage, retryAfterMs }: Refusal): string {
  const [code, message] = [anyCode, anyMessage].map((text) => text?.slice(0, MAX_QUOTED))
  if (code === undefined || !isVaultErrorCode(code)) {
    const answer = `the vault returned ${String(status)}${code === undefined ? ' with an unexpected body' : ` ${code}`}`
    return message === undefined ? answer : `${answer}: ${message}`
  }
  if (code === 'rate_limited' && retryAfterMs !== undefined)
    return REMEDIES[code].replace('later', `in ${duration(Math.ceil(retryAfterMs / 1000))}`)
  const before = BEFORE_MESSAGE[code]
  const tellsMore = before !== undefined && message !== undefined && !GENERAL_MESSAGES.has(message)
  return tellsMore ? `${before}: ${message}` : REMEDIES[code]
}

function isVaultErrorCode(code: string): code is VaultErrorCode {
  return Object.hasOwn(REMEDIES, code)
}

function clockMessage(differenceMs: number): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1000)
  const side = differenceMs < 0 ? 'behind' : 'ahead of'
  return `this machine's clock is ${duration(seconds)} ${side} the vault's; signatures are accepted within five minutes`
}

function duration(seconds: number): string {
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  if (hours >= 48) return `${String(Math.floor(hours / 24))} days`
  if (hours >= 1) return `${String(hours)} h ${String(minutes % 60)} min`
  return minutes >= 1 ? `${String(minutes)} min ${String(seconds % 60)} s` : `${String(seconds)} s`
}

/** Patterns for the error code in the cause of a failed fetch in Node, with what each means. */
const CAUSES: readonly (readonly [RegExp, ClientErrorCode, string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|EAI_NONAME)$/, 'unknown_host', 'has a name that does not resolve'],
  [/^ECONNREFUSED$/, 'connection_refused', 'refuses connections; check that it is running'],
  [
    /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/,
    'tls_failed',
    'has no trusted TLS certificate, or does not use TLS',
  ],
]

/** Creates the error for a request without a response. */
export function errorOfFailure(host: string, failure: unknown): VaultError {
  if (isObject(failure) && failure['name'] === 'TimeoutError')
    return new VaultError('timeout', `the vault at ${host} did not respond in time`, { cause: failure })
  const cause = causeCode(failure)
  const [, code, what] = CAUSES.find(([pattern]) => pattern.test(cause)) ?? []
  const hint = cause === '' ? '' : ` (${cause})`
  const message = `the vault at ${host} ${what ?? 'cannot be reached'}${hint}`
  return new VaultError(code ?? 'unreachable', message, { cause: failure })
}

/** Returns the code of the innermost cause. If several addresses failed, the first one counts. */
function causeCode(failure: unknown): string {
  let [code, each] = ['', failure]
  for (let depth = 0; isObject(each) && depth < 5; depth++) {
    if (typeof each['code'] === 'string') code = each['code']
    each = Array.isArray(each['errors']) ? each['errors'][0] : each['cause']
  }
  return code
}

/** `instanceof` fails for errors of another realm. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
