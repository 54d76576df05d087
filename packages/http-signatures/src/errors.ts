/** All codes of {@link SignatureError}. */
export const SIGNATURE_ERROR_CODES = [
  /** One of the three headers is absent or empty. */
  'missing_signature',
  /** The request does not match the profile, or does not verify. */
  'invalid_signature',
  /** `created` is more than five minutes from the given time. */
  'expired',
  /** The key is malformed, private or weak. */
  'invalid_public_key',
  /** The key is not an Ed25519 private key, or its parts do not match. */
  'invalid_private_key',
  /** `signRequest` cannot sign this request. */
  'invalid_input',
] as const

export type SignatureErrorCode = (typeof SIGNATURE_ERROR_CODES)[number]

/**
 * The only error this package throws.
 *
 * `code` is part of the API. `message` names the broken rule for the operator's log and never repeats the input. Do not
 * return it to the sender, who should not learn why a signature is invalid.
 */
export class SignatureError extends Error {
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode, message: string) {
    super(message)
    this.name = 'SignatureError'
    this.code = code
  }
}
