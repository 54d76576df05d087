import { toBase64Url, toHex } from './encoding.ts'
import { SignatureError } from './errors.ts'
import { readOkpJwk } from './jwk.ts'

/** A private key ready to sign. The key itself is out of reach: logging or serialising this shows the public half. */
export type SigningKey = {
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string
  /** The 64-byte Ed25519 signature of `message` (RFC 8032 section 5.1.6). */
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** A new key pair, ready to be registered and stored. */
export type GeneratedKeyPair = {
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string
  /** A JWK JSON string with members kty, crv, d and x, in this order. */
  readonly privateJwk: string
}

/** The two halves of a key pair, 32 bytes each. `seed` is the private one. */
export type KeyPairBytes = { readonly seed: Uint8Array; readonly publicKey: Uint8Array }

/** Reads a private JWK; the caller still has to hold the public half against the private one. */
export function readPrivateJwk(jwk: string): KeyPairBytes {
  const read = readOkpJwk(jwk)
  if (read === undefined || read.d === 'absent') {
    throw new SignatureError('invalid_private_key', 'not an Ed25519 private JWK')
  }
  return { seed: read.d, publicKey: read.x }
}

/** Makes a signing key, provided that the public key the JWK states is the one its private half yields. */
export function signingKey(stated: Uint8Array, derived: Uint8Array, sign: SigningKey['sign']): SigningKey {
  const publicKeyHex = toHex(derived)
  if (toHex(stated) !== publicKeyHex) throw new SignatureError('invalid_private_key', 'd and x do not belong together')
  return { publicKeyHex, sign }
}

export function writeKeyPair({ seed, publicKey }: KeyPairBytes): GeneratedKeyPair {
  const privateJwk = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', d: toBase64Url(seed), x: toBase64Url(publicKey) })
  return { publicKeyHex: toHex(publicKey), privateJwk }
}
