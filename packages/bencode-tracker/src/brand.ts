declare const brand: unique symbol

/** A 20-byte info hash (SHA-1 of BEP 3, or the truncated SHA-256 of BEP 52) as 40 lower-case hex digits. */
export type InfoHash = string & { readonly [brand]: 'InfoHash' }

/** A 20-byte peer id (BEP 3, BEP 20) as 40 lower-case hex digits. */
export type PeerId = string & { readonly [brand]: 'PeerId' }

/** A user's secret for the announce URL: 40 lower-case hex digits. */
export type Passkey = string & { readonly [brand]: 'Passkey' }

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
