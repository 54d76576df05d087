import { createPublicKey } from 'node:crypto'
import { InvalidArgumentError } from 'commander'

export type PublicKeyFormat = 'hex' | 'jwk' | 'pem'

/** Formats a public key, which is given as 64 hex digits. */
export function publicKeyText(hex: string, format: PublicKeyFormat): string {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(hex, 'hex').toString('base64url') }
  if (format === 'jwk') return JSON.stringify(jwk)
  if (format === 'hex') return hex
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString().trimEnd()
}

/** Reads the public key of an option: converts a PEM to hex, and refuses private keys so that they are never sent. */
export function readPublicKey(text: string): string {
  const trimmed = text.trim()
  if (/PRIVATE KEY-----/.test(trimmed) || /"d"\s*:/.test(trimmed))
    throw new InvalidArgumentError('This is a private key. Print its public key with vault public-key.')
  if (trimmed === '') throw new InvalidArgumentError('It must not be empty.')
  if (!trimmed.startsWith('-----')) return trimmed
  try {
    const { crv, x } = createPublicKey(trimmed).export({ format: 'jwk' })
    if (crv === 'Ed25519' && x !== undefined) return Buffer.from(x, 'base64url').toString('hex')
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('This PEM is not an Ed25519 public key.')
}
