/** Every code a {@link SignatureError} can carry. The README explains each in its table; a test keeps the two equal. */
export const SIGNATURE_ERROR_CODES = [
  'missing_signature',
  'invalid_signature',
  'expired',
  'invalid_public_key',
  'invalid_private_key',
  'invalid_input',
] as const

/** The closed union of error codes: `switch` on it and the compiler tells when a case is missing. */
export type SignatureErrorCode = (typeof SIGNATURE_ERROR_CODES)[number]

/**
 * The only error this package throws.
 *
 * `code` is API. `message` names the rule that was broken, for an operator's log: it never repeats what was received,
 * and it is not meant for the sender, to whom one code for every bad signature tells the least.
 */
export class SignatureError extends Error {
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode, message: string) {
    super(message)
    this.name = 'SignatureError'
    this.code = code
  }
}
