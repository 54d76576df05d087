/** The codes of the vault's error table, and what each means to an operator of the application. */
const REMEDIES = {
  invalid_request: 'the vault does not accept these parameters',
  invalid_public_key: 'the public key is not an Ed25519 key that the vault accepts',
  unauthorized: 'the vault does not accept this admin token',
  missing_signature: 'the vault received no signature; check whether a proxy removes the Signature headers',
  unknown_project: 'the vault has no project with this name; ask an administrator to register it',
  invalid_signature:
    'the vault refused the signature; the private key does not belong to the registered public key, or it was replaced or revoked',
  expired: "this machine's clock and the vault's differ by more than five minutes",
  replayed_nonce: 'the vault has received this request before',
  forbidden: 'this key or token may not do that; ask an administrator for a wider scope',
  not_found: 'there is no such project, secret or version',
  method_not_allowed: 'this vault does not support the request; it may be older than this client',
  project_exists: 'a project with this name already exists',
  payload_too_large: 'the value is longer than 64 KiB, or the environment is full',
  unsupported_media_type: 'the vault did not receive JSON; check whether a proxy changes the body',
  misdirected_request: 'the vault does not serve this address; use the URL that its PUBLIC_URL names',
  rate_limited: 'too many requests or failures from this address, or writes of this project; try again later',
  internal_error: 'the vault failed; its log shows the reason',
  decryption_failed: 'a stored value cannot be decrypted; contact the administrator of the vault',
  unavailable: 'the vault cannot reach its database or Redis; try again later',
} as const

/** What stands before a message of the vault that tells more than the code does. */
const BEFORE_MESSAGE: Readonly<Partial<Record<VaultErrorCode, string>>> = {
  invalid_request: REMEDIES.invalid_request,
  payload_too_large: 'the vault does not store this',
  decryption_failed: REMEDIES.decryption_failed,
  unavailable: 'the vault cannot do this now',
}

/** Messages of these codes that tell no more than the code does: the meanings in the vault's error table. */
const GENERAL_MESSAGES: ReadonlySet<string> = new Set([
  'The body, a parameter or the HTTP message itself is malformed.',
  'The body is larger than 512 KiB, or the project would exceed its storage limits.',
  'A stored value does not decrypt. No values were returned.',
  'Postgres, Redis or the key service is unavailable, too many writes are waiting, or the project does not read its responses. A write may have succeeded.',
])

/** Codes of the vault's error table. */
export type VaultErrorCode = keyof typeof REMEDIES
export const VAULT_ERROR_CODES = Object.keys(REMEDIES) as readonly VaultErrorCode[]

/**
 * Codes that this client adds to those of the vault's error table. Browsers do not tell why a connection failed: there, every
 * failure is `unreachable`.
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

/** A vault that refused, or could not be asked. Neither the key nor a secret's value ever stands in the message. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  /** What went wrong. A newer vault may know codes that this client does not. */
  readonly code: VaultErrorCode | ClientErrorCode | (string & {})
  /** The HTTP status, or undefined when no answer came. */
  readonly status: number | undefined
  /** How long the vault asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** For `expired`: by how much this machine's clock is ahead of the vault's, in milliseconds; negative when it is behind. */
  readonly clockDifferenceMs: number | undefined

  constructor(code: string, message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.clockDifferenceMs = details.clockDifferenceMs
  }
}

/** An answer that is not a success, as far as it could be read. */
export type Refusal = {
  readonly status: number
  /** The code and message of its body. */
  readonly code: string | undefined
  readonly message: string | undefined
  readonly retryAfterMs: number | undefined
  /** For how long the local clock is ahead of the answer's Date. */
  readonly clockDifferenceMs: number | undefined
}

/** Makes the error for an answer of the vault that is not a success, with the vault's own message where that tells more. */
export function errorOfAnswer(refusal: Refusal): VaultError {
  const { status, code = 'invalid_answer', retryAfterMs, clockDifferenceMs } = refusal
  if (isOfNoVault(refusal)) return new VaultError('invalid_answer', NO_VAULT, { status })
  const isClock = code === 'expired' && clockDifferenceMs !== undefined
  const text = isClock ? clockMessage(clockDifferenceMs) : textOf(refusal)
  return new VaultError(code, text, { status, retryAfterMs, ...(isClock && { clockDifferenceMs }) })
}

const NO_VAULT = 'this server is not a vault: it returned 404 with an unexpected body; check the URL'

/** Whether another server says that it has no such path. The codes of a vault, those of a newer one too, are words in lower case. */
function isOfNoVault({ status, code }: Refusal): boolean {
  return status === 404 && !/^[a-z]+(_[a-z]+)*$/.test(code ?? '')
}

/** The longest text of a server that a message repeats. */
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

/** What Node's fetch gives as the code of its cause. */
const CAUSES: readonly (readonly [RegExp, ClientErrorCode, string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|EAI_NONAME)$/, 'unknown_host', 'has a name that does not resolve'],
  [/^ECONNREFUSED$/, 'connection_refused', 'refuses connections: nothing listens there'],
  [
    /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/,
    'tls_failed',
    'has no TLS certificate that this machine trusts, or does not speak TLS',
  ],
]

/** Makes the error for a request that got no answer. */
export function errorOfFailure(host: string, failure: unknown): VaultError {
  if (isObject(failure) && failure['name'] === 'TimeoutError')
    return new VaultError('timeout', `the vault at ${host} did not respond in time`, { cause: failure })
  const cause = causeCode(failure)
  const [, code, what] = CAUSES.find(([pattern]) => pattern.test(cause)) ?? []
  const hint = cause === '' ? '' : ` (${cause})`
  const message = `the vault at ${host} ${what ?? 'cannot be reached'}${hint}`
  return new VaultError(code ?? 'unreachable', message, { cause: failure })
}

/** The code of the innermost cause; of several addresses that failed, of the first. */
function causeCode(failure: unknown): string {
  let [code, each] = ['', failure]
  for (let depth = 0; isObject(each) && depth < 5; depth++) {
    if (typeof each['code'] === 'string') code = each['code']
    each = Array.isArray(each['errors']) ? each['errors'][0] : each['cause']
  }
  return code
}

/** Errors of another realm are no instances of this one's classes. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
