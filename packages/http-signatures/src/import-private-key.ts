import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { toBase64Url } from './encoding.ts'
import { readPrivateJwk, type SigningKey, signingKey } from './private-key.ts'

/**
 * Imports a private key for `signRequest`: a JWK JSON string with kty OKP, crv Ed25519, d and x.
 *
 * @throws {SignatureError} `invalid_private_key`, also when d and x do not belong together. The message never repeats
 * the input.
 */
export function importPrivateKey(jwk: string): SigningKey {
  const { seed, publicKey } = readPrivateJwk(jwk)
  const d = toBase64Url(seed)
  const x = toBase64Url(publicKey)
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
  return signingKey(publicKey, derivePublicKey(key), (message) => sign(null, message, key))
}

function derivePublicKey(key: KeyObject): Uint8Array {
  // An Ed25519 SubjectPublicKeyInfo ends with the 32 bytes of the key (RFC 8410 section 4).
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
