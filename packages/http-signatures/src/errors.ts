/** All codes of {@link SignatureError}. A test compares them with the table in the README. */
export const SIGNATURE_ERROR_CODES = [
  'missing_signature',
  'invalid_signature',
  'expired',
  'invalid_public_key',
  'invalid_private_key',
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
