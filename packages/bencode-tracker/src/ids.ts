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

/** Converts the bytes of an info hash; `undefined` unless there are exactly 20. */
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

// Hex digits. `charCodeAt` returns NaN past the end of a string, which is not a digit.

/** Value of a hex digit by character code, -1 for every other code below 256. */
const DIGIT_VALUES = new Int8Array(256).fill(-1)
/** Lower-case form of a hex digit by character code, 0 for every other code below 256. */
const LOWER_DIGITS = new Uint8Array(256)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  for (const code of [digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)]) {
    DIGIT_VALUES[code] = value
    LOWER_DIGITS[code] = digit.charCodeAt(0)
  }
}

/** The value 0..15 of a hex digit in either case, -1 for anything else. */
export function hexValue(charCode: number): number {
  return DIGIT_VALUES[charCode] ?? -1
}

/** The character code of a hex digit in lower case, 0 for anything else. */
export function lowerHexDigit(charCode: number): number {
  return LOWER_DIGITS[charCode] ?? 0
}

const LOWER_HEX_40 = /^[0-9a-f]{40}$/
const HEX_40 = /^[0-9a-fA-F]{40}$/

/** Returns 40 hex digits of either case in lower case, and `''` for anything else. */
function lowerHex40(text: string): string {
  // They are nearly always in lower case, and the conversion would cost more than the check.
  if (LOWER_HEX_40.test(text)) return text
  return HEX_40.test(text) ? text.toLowerCase() : ''
}

/** The same as {@link lowerHex40} for `text[start, end)`, whose ASCII bytes are at the same offsets in `bytes`. */
export function lowerHex40At(text: string, bytes: Uint8Array, start: number, end: number): string {
  if (end - start !== 40) return ''
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (lowerHexDigit(byte) !== byte || byte === 0) return lowerHex40(text.slice(start, end))
  }
  return text.slice(start, end)
}
