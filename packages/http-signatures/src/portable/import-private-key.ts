import nacl from 'tweetnacl'
import { readPrivateJwk, type SigningKey, signingKey } from '../private-key.ts'

/**
 * Imports a private key for `signRequest` without node:crypto: a JWK JSON string with kty OKP, crv Ed25519, d and x.
 *
 * @throws {SignatureError} `invalid_private_key`, also when d and x do not belong together.
 */
export function importPrivateKey(jwk: string): SigningKey {
  const { seed, publicKey } = readPrivateJwk(jwk)
  const pair = nacl.sign.keyPair.fromSeed(seed)
  return signingKey(publicKey, pair.publicKey, (message) => nacl.sign.detached(message, pair.secretKey))
}
