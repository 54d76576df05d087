/** Codes that this client adds to those of the vault's error table. */
export type ClientErrorCode = 'unreachable' | 'timeout' | 'invalid_answer' | 'invalid_configuration'

/** A vault that refused, or could not be asked. Neither the key nor a secret's value ever stands in the message. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  /** A code of the vault's error table, such as `expired`, or one of this client's own. */
  readonly code: string
  /** The HTTP status, or undefined when no answer came. */
  readonly status: number | undefined

  constructor(code: string, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.status = options.status
  }
}

/** What each code of the vault means to an operator of the application. */
const REMEDIES: Readonly<Record<string, string>> = {
  unknown_project: 'the vault knows no project of this name; ask an administrator to register it',
  invalid_signature: 'the vault refused the signature; check that the private key belongs to the registered public key',
  expired: "this machine's clock and the vault's differ by more than five minutes",
  replayed_nonce: 'the vault has received this request before',
  rate_limited: 'too many requests from this address; try again later',
  not_found: 'there is no such secret',
  invalid_request: 'the vault does not accept these parameters',
  payload_too_large: 'the value is longer than 64 KiB',
  decryption_failed: 'a stored value does not decrypt; tell the administrator of the vault',
  unavailable: 'the vault cannot reach its database or Redis; try again later',
}

/** Makes the error for an answer of the vault that is not a success. */
export function errorOfAnswer(status: number, code: string | undefined): VaultError {
  const known = code ?? 'invalid_answer'
  return new VaultError(known, REMEDIES[known] ?? `the vault answered ${String(status)} ${known}`, { status })
}
