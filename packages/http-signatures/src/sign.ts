// The part for clients, which starts without the library that checks public keys.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { bodyBytes, type RequestToSign, type SignatureHeaders, signPrepared } from './prepare-request.ts'
import { type GeneratedKeyPair, readPrivateKey, type SigningKey, signingKey, writeKeyPair } from './private-key.ts'

export { SignatureError, type SignatureErrorCode } from './errors.ts'
export type { DigestAlgorithm, RequestToSign, SignatureHeaders } from './prepare-request.ts'
export type { GeneratedKeyPair, SigningKey } from './private-key.ts'

/** Generates an Ed25519 key pair with node:crypto. Show the private key once, and keep no copy. */
export function generateKeyPair(): GeneratedKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  // Both encodings end with the 32 bytes of the key (RFC 8410 sections 4 and 7).
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  return writeKeyPair({ seed, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) })
}

// An Ed25519 PrivateKeyInfo up to the 32 bytes of the seed (RFC 8410 section 7). A JWK would also contain x, and
// versions of node:crypto differ in how they treat an x that does not belong to d.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Imports a private key for `signRequest`: a JWK JSON string with kty OKP, crv Ed25519, d and x, or the 32
 * bytes of a seed (RFC 8032 section 5.1.5). A key in hex is refused, because it could be the public half.
 *
 * @throws {SignatureError} `invalid_private_key`, including if d and x do not belong together. The message never
 *   repeats the input.
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

const HASH = { 'sha-256': 'sha256', 'sha-512': 'sha512' }

/**
 * Signs a request (RFC 9421 section 3.1) and returns the headers to send with it.
 *
 * The URL is signed as fetch sends it: normalised, without fragment. Pass `new URL(url).href` to clients that send URLs
 * unchanged.
 *
 * @throws {SignatureError} `invalid_input` if a part of the request cannot be signed under this profile.
 */
export function signRequest(request: RequestToSign): SignatureHeaders {
  const { body, digest = 'sha-256' } = request
  if (body === undefined) return signPrepared(request, undefined)
  return signPrepared(request, `${digest}=:${createHash(HASH[digest]).update(bodyBytes(body)).digest('base64')}:`)
}
