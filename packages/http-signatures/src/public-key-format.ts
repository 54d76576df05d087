import { toBase64Url, toHex } from './encoding.ts'
import { SignatureError } from './errors.ts'

/**
 * Writes a public key as 64 lower-case hex digits.
 *
 * @throws {SignatureError} `invalid_public_key` unless there are 32 bytes.
 */
export function publicKeyToHex(publicKey: Uint8Array): string {
  require32Bytes(publicKey)
  return toHex(publicKey)
}

/**
 * Writes a public key as a JWK JSON string with members kty, crv and x (RFC 8037 section 2).
 *
 * @throws {SignatureError} `invalid_public_key` unless there are 32 bytes.
 */
export function publicKeyToJwk(publicKey: Uint8Array): string {
  require32Bytes(publicKey)
  return JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: toBase64Url(publicKey) })
}

function require32Bytes(publicKey: Uint8Array): void {
  if (publicKey.length !== 32) throw new SignatureError('invalid_public_key', 'a public key has 32 bytes')
}
