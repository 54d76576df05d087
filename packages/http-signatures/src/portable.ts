// The part for clients without node:crypto, such as browsers and edge functions.
import nacl from 'tweetnacl'
import { toBase64 } from './encoding.ts'
import { bodyBytes, type RequestToSign, type SignatureHeaders, signPrepared } from './prepare-request.ts'
import { type GeneratedKeyPair, readPrivateKey, type SigningKey, signingKey, writeKeyPair } from './private-key.ts'

export { SignatureError, type SignatureErrorCode } from './errors.ts'
export type { DigestAlgorithm, RequestToSign, SignatureHeaders } from './prepare-request.ts'
export type { GeneratedKeyPair, SigningKey } from './private-key.ts'

/** Generates an Ed25519 key pair with random bytes of Web Crypto. The private key should not leave the machine. */
export function generateKeyPair(): GeneratedKeyPair {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  return writeKeyPair({ seed, publicKey: nacl.sign.keyPair.fromSeed(seed).publicKey })
}

/**
 * Imports a private key for `signRequest` without node:crypto: a JWK JSON string with kty OKP, crv Ed25519, d and x, or
 * the 32 bytes of a seed (RFC 8032 section 5.1.5). A key in hex is refused, because it could be the public half.
 *
 * @throws {SignatureError} `invalid_private_key`, including if d and x do not belong together.
 */
export function importPrivateKey(key: string | Uint8Array): SigningKey {
  const { seed, stated } = readPrivateKey(key)
  const pair = nacl.sign.keyPair.fromSeed(seed)
  return signingKey(stated, pair.publicKey, (message) => nacl.sign.detached(message, pair.secretKey))
}

const HASH = { 'sha-256': 'SHA-256', 'sha-512': 'SHA-512' }

/**
 * Returns the same bytes as `signRequest` of the main entry without node:crypto. It is asynchronous because Web
 * Crypto's digest is.
 *
 * @throws {SignatureError} `invalid_input` (as a rejection) if a part cannot be signed under this profile.
 */
export async function signRequest(request: RequestToSign): Promise<SignatureHeaders> {
  const { body, digest = 'sha-256' } = request
  if (body === undefined) return signPrepared(request, undefined)
  const hash = await crypto.subtle.digest(HASH[digest], bodyBytes(body))
  return signPrepared(request, `${digest}=:${toBase64(new Uint8Array(hash))}:`)
}
