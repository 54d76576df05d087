import { ed25519 } from '@noble/curves/ed25519.js'
import { fromHex } from './encoding.ts'
import { SignatureError } from './errors.ts'
import { readOkpJwk } from './jwk.ts'
import { HEX_KEY } from './profile.ts'

/**
 * Parses and checks an Ed25519 public key: 64 hex digits, or a JWK JSON string with kty OKP, crv Ed25519 and a
 * canonical x.
 *
 * The point must be canonically encoded, on the curve (RFC 8032 section 5.1.3), and of prime order. node:crypto imports
 * keys of small order and then accepts forged signatures for them; on points with a torsion part, verifiers disagree.
 * A JWK with a private part is refused, so that no private key is stored by accident.
 *
 * @returns 32 bytes.
 * @throws {SignatureError} `invalid_public_key`. The message never repeats the input.
 */
export function parsePublicKey(input: string): Uint8Array {
  const bytes = HEX_KEY.test(input) ? fromHex(input) : fromJwk(input)
  const point = decodePoint(bytes)
  if (point.is0() || !point.isTorsionFree())
    throw new SignatureError('invalid_public_key', 'the point is not of prime order')
  return bytes
}

function decodePoint(bytes: Uint8Array) {
  try {
    return ed25519.Point.fromBytes(bytes)
  } catch {
    throw new SignatureError('invalid_public_key', 'the key encodes no point of the curve')
  }
}

function fromJwk(input: string): Uint8Array {
  const jwk = readOkpJwk(input)
  if (jwk === undefined) throw new SignatureError('invalid_public_key', 'neither 64 hex digits nor an Ed25519 JWK')
  if (jwk.d !== 'absent') throw new SignatureError('invalid_public_key', 'the JWK contains a private key')
  return jwk.x
}
