import { toBase64Url, toHex } from './encoding.ts'
import { SignatureError } from './errors.ts'
import { readOkpJwk } from './jwk.ts'

/**
 * A private key for signing. The key itself is inaccessible: logging or serialising the object shows the public half.
 */
export type SigningKey = {
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string
  /** The 64-byte Ed25519 signature of `message` (RFC 8032 section 5.1.6). */
  readonly sign: (message: Uint8Array) => Uint8Array
}

export type GeneratedKeyPair = {
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string
  /** A JWK JSON string with members kty, crv, d and x, in this order. */
  readonly privateJwk: string
}

/** The two halves of a key pair, 32 bytes each. `seed` is the private one. */
export type KeyPairBytes = { readonly seed: Uint8Array; readonly publicKey: Uint8Array }

/** A parsed private key: its seed, and the public half if a JWK states it. */
export type ReadPrivateKey = Readonly<{ seed: Uint8Array; stated: Uint8Array | undefined }>

/**
 * Reads a private JWK, or the 32 bytes of a seed. The caller must compare the stated public half with the derived one.
 */
export function readPrivateKey(key: string | Uint8Array): ReadPrivateKey {
  if (typeof key !== 'string') {
    if (key.length !== 32) throw new SignatureError('invalid_private_key', 'a seed has 32 bytes')
    return { seed: Uint8Array.from(key), stated: undefined }
  }
  const read = readOkpJwk(key)
  if (read === undefined || read.d === 'absent') {
    throw new SignatureError('invalid_private_key', 'not an Ed25519 private JWK')
  }
  return { seed: read.d, stated: read.x }
}

/**
 * Creates a signing key.
 *
 * @throws {SignatureError} `invalid_private_key` if the stated public key is not the derived one.
 */
export function signingKey(stated: Uint8Array | undefined, derived: Uint8Array, sign: SigningKey['sign']): SigningKey {
  const publicKeyHex = toHex(derived)
  if (stated !== undefined && toHex(stated) !== publicKeyHex)
    throw new SignatureError('invalid_private_key', 'd and x do not belong together')
  return { publicKeyHex, sign }
}

export function writeKeyPair({ seed, publicKey }: KeyPairBytes): GeneratedKeyPair {
  const privateJwk = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', d: toBase64Url(seed), x: toBase64Url(publicKey) })
  return { publicKeyHex: toHex(publicKey), privateJwk }
}
