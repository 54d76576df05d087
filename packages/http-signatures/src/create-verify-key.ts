import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { publicKeyToHex } from './public-key-format.ts'

/**
 * An imported public key. Importing costs a tenth of a verification, so reuse the key; this package does not cache it.
 */
export class VerifyKey {
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string
  readonly #key: KeyObject

  constructor(publicKeyHex: string, key: KeyObject) {
    this.publicKeyHex = publicKeyHex
    this.#key = key
  }

  /** Whether `signature` is this key's Ed25519 signature of `message` (RFC 8032 section 5.1.7). Never throws. */
  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return verify(null, message, this.#key, signature)
  }

  /** The same on a thread of libuv's pool, so that the event loop is not blocked. */
  verifyOffThread(message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    return new Promise((resolve, reject) => {
      verify(null, message, this.#key, signature, (error, verified) => {
        if (error === null) resolve(verified)
        else reject(error)
      })
    })
  }
}

/**
 * Imports 32 bytes of public key for `verifySignature`.
 *
 * `parsePublicKey` must have accepted the bytes, now or when they were stored. Its check is expensive and is not repeated
 * here, and node:crypto alone accepts keys for which anyone can forge signatures.
 *
 * @throws {SignatureError} `invalid_public_key` unless there are 32 bytes.
 */
export function createVerifyKey(publicKey: Uint8Array): VerifyKey {
  const publicKeyHex = publicKeyToHex(publicKey)
  const x = Buffer.from(publicKey).toString('base64url')
  return new VerifyKey(publicKeyHex, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }))
}
