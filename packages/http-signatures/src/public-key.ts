import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { fromHex, toHex } from './encoding.ts'
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

/**
 * Writes a public key as 64 lower-case hex digits.
 *
 * @throws {SignatureError} `invalid_public_key` unless there are 32 bytes.
 */
export function publicKeyToHex(publicKey: Uint8Array): string {
  if (publicKey.length !== 32) throw new SignatureError('invalid_public_key', 'a public key has 32 bytes')
  return toHex(publicKey)
}

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
