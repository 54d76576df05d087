import { decodeUpToSign, isOfPrimeOrder } from './edwards25519.ts'
import { fromHex } from './encoding.ts'
import { SignatureError } from './errors.ts'
import { readOkpJwk } from './jwk.ts'
import { HEX_KEY } from './profile.ts'

/**
 * Admits an Ed25519 public key: 64 hex digits, or a JWK JSON string with kty OKP, crv Ed25519 and a canonical x.
 *
 * The point itself is judged here (RFC 8032 section 5.1.3): canonical, on the curve, neither of small order nor with a
 * torsion part. node:crypto imports such keys without complaint, and then accepts forged signatures under them. A JWK
 * with a private part is refused, so that nobody's private key is stored by accident.
 *
 * @returns 32 bytes.
 * @throws {SignatureError} `invalid_public_key`. The message never repeats the input.
 */
export function parsePublicKey(input: string): Uint8Array {
  const bytes = HEX_KEY.test(input) ? fromHex(input) : fromJwk(input)
  const point = decodeUpToSign(bytes)
  if (point === undefined) throw new SignatureError('invalid_public_key', 'the key encodes no point of the curve')
  if (!isOfPrimeOrder(point)) throw new SignatureError('invalid_public_key', 'the point is not of prime order')
  return bytes
}

function fromJwk(input: string): Uint8Array {
  const jwk = readOkpJwk(input)
  if (jwk === undefined) throw new SignatureError('invalid_public_key', 'neither 64 hex digits nor an Ed25519 JWK')
  if (jwk.d !== 'absent') throw new SignatureError('invalid_public_key', 'the JWK holds a private key')
  return jwk.x
}
