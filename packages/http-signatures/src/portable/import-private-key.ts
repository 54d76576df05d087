import nacl from 'tweetnacl'
import { readPrivateKey, type SigningKey, signingKey } from '../private-key.ts'

/**
 * Imports a private key for `signRequest` without node:crypto: a JWK JSON string with kty OKP, crv Ed25519, d and x, or
 * the 32 bytes of a seed (RFC 8032 section 5.1.5). A key in hex is refused, because it could be the public half.
 *
 * @throws {SignatureError} `invalid_private_key`, also if d and x do not belong together.
 */
export function importPrivateKey(key: string | Uint8Array): SigningKey {
  const { seed, stated } = readPrivateKey(key)
  const pair = nacl.sign.keyPair.fromSeed(seed)
  return signingKey(stated, pair.publicKey, (message) => nacl.sign.detached(message, pair.secretKey))
}
