import { lowerHex40 } from './hex.ts'

declare const brand: unique symbol

/** A 20-byte info hash (SHA-1 of BEP 3, or the truncated SHA-256 of BEP 52) as 40 lower-case hex digits. */
export type InfoHash = string & { readonly [brand]: 'InfoHash' }

/** A 20-byte peer id (BEP 3, BEP 20) as 40 lower-case hex digits. */
export type PeerId = string & { readonly [brand]: 'PeerId' }

/** A user's secret for the announce URL: 40 lower-case hex digits. */
export type Passkey = string & { readonly [brand]: 'Passkey' }

/** Reads an info hash from 40 hex digits of either case; `undefined` for anything else. */
export function parseInfoHash(hex: string): InfoHash | undefined {
  const lower = lowerHex40(hex)
  return lower === '' ? undefined : brandInfoHash(lower)
}

/** Takes an info hash from its bytes; `undefined` unless there are exactly 20. */
export function infoHashFromBytes(bytes: Uint8Array): InfoHash | undefined {
  if (bytes.byteLength !== 20) return undefined
  return brandInfoHash(Buffer.from(bytes.buffer, bytes.byteOffset, 20).toString('hex'))
}

/** Reads a peer id from 40 hex digits of either case; `undefined` for anything else. */
export function parsePeerId(hex: string): PeerId | undefined {
  const lower = lowerHex40(hex)
  return lower === '' ? undefined : brandPeerId(lower)
}

/** Reads a passkey from 40 hex digits of either case; `undefined` for anything else. */
export function parsePasskey(hex: string): Passkey | undefined {
  const lower = lowerHex40(hex)
  return lower === '' ? undefined : brandPasskey(lower)
}

// The only casts of the package. Callers have checked for 40 lower-case hex digits, or just produced them.

export function brandInfoHash(hex: string): InfoHash {
  return hex as InfoHash
}

export function brandPeerId(hex: string): PeerId {
  return hex as PeerId
}

export function brandPasskey(hex: string): Passkey {
  return hex as Passkey
}
