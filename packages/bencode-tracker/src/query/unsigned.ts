const ZERO = 0x30
const NINE = 0x39
/** 2^53 - 1 has 16 digits. */
const MAX_DIGITS = 16
/** 2^64 - 1 has 20. */
const MAX_DIGITS_64_BIT = 20

/** Reads `bytes[start, end)` as 1 to 16 decimal digits up to 2^53 - 1; -1 for anything else, a sign included. */
export function parseUnsigned(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_DIGITS) return -1
  const value = parseDigits(bytes, start, end)
  return value > Number.MAX_SAFE_INTEGER ? -1 : value
}

/** As {@link parseUnsigned}, but up to 20 digits and with 2^53 - 1 for everything above it. */
export function parseUnsignedSaturating(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_DIGITS_64_BIT) return -1
  return Math.min(parseDigits(bytes, start, end), Number.MAX_SAFE_INTEGER)
}

function parseDigits(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte < ZERO || byte > NINE) return -1
    value = value * 10 + (byte - ZERO)
  }
  return value
}
