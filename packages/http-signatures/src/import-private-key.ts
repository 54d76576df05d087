import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readPrivateKey, type SigningKey, signingKey } from './private-key.ts'

// An Ed25519 PrivateKeyInfo up to the 32 bytes of the seed (RFC 8410 section 7). A JWK would also contain x, and
// versions of node:crypto differ in how they treat an x that does not belong to d.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Imports a private key for `signRequest`: a JWK JSON string with kty OKP, crv Ed25519, d and x, or the 32
 * bytes of a seed (RFC 8032 section 5.1.5). A key in hex is refused, because it could be the public half.
 *
 * @throws {SignatureError} `invalid_private_key`, also if d and x do not belong together. The message never repeats the
 * input.
 */
export function importPrivateKey(key: string | Uint8Array): SigningKey {
  const { seed, stated } = readPrivateKey(key)
  const imported = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  return signingKey(stated, derivePublicKey(imported), (message) => sign(null, message, imported))
}

function derivePublicKey(key: KeyObject): Uint8Array {
  // An Ed25519 SubjectPublicKeyInfo ends with the 32 bytes of the key (RFC 8410 section 4).
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
