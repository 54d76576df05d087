import { hexValue, lowerHexDigit } from './ids.ts'

// Raw queries, read in place.

/** Longest query of any request, in bytes. */
export const MAX_QUERY_LENGTH = 10_240

const shared = new Uint8Array(MAX_QUERY_LENGTH)
const encoder = new TextEncoder()

/**
 * The bytes of a query of at most 10,240 characters, or `undefined` if it contains other characters than ASCII, which
 * must be escaped in a URL. The buffer is reused by the next call, and contains older bytes after the end of the query.
 * Loops over bytes take half the time of loops over `charCodeAt`, which looks up the string's representation each time.
 */
export function asciiBytes(query: string): Uint8Array | undefined {
  // Only ASCII characters take one byte in UTF-8, so the length reveals others.
  return encoder.encodeInto(query, shared).written === query.length ? shared : undefined
}

/**
 * Iterates over the parameters of a raw query in place, without decoding or copying. After `next()` has returned true,
 * the name is `query[nameStart, nameEnd)` and the value `query[valueStart, valueEnd)`. A name without `=` has an empty
 * value.
 */
export class QueryCursor {
  nameStart = 0
  nameEnd = 0
  valueStart = 0
  valueEnd = -1
  private readonly query: string
  private equals = -1

  constructor(query: string) {
    this.query = query
  }

  /** Moves to the next parameter. Returns false at the end. */
  next(): boolean {
    const { query } = this
    const start = this.valueEnd + 1
    if (start >= query.length) return false
    const ampersand = query.indexOf('&', start)
    const end = ampersand === -1 ? query.length : ampersand
    // Only searched once passed, so that a query of ampersands is not searched to its end for each of them.
    if (this.equals < start) {
      const equals = query.indexOf('=', start)
      this.equals = equals === -1 ? query.length : equals
    }
    this.nameStart = start
    this.nameEnd = Math.min(this.equals, end)
    this.valueStart = Math.min(this.nameEnd + 1, end)
    this.valueEnd = end
    return true
  }

  /**
   * Ends the current value at a `?`, if there is one. Some clients append their parameters to the announce URL with a
   * second `?` (`?passkey=x?info_hash=…`), after which the next parameter begins.
   */
  endValueAtQuestionMark(): void {
    const mark = this.query.indexOf('?', this.valueStart)
    if (mark !== -1 && mark < this.valueEnd) {
      this.valueEnd = mark
      // The last found `=` may be before or after the `?`, so search again.
      this.equals = -1
    }
  }

  isNamed(name: string): boolean {
    return this.nameEnd - this.nameStart === name.length && this.query.startsWith(name, this.nameStart)
  }
}

const PERCENT = 0x25
const FIRST_PRINTABLE = 0x21
const LAST_PRINTABLE = 0x7e

/** The two hex digits of each byte that a query may contain unescaped; 0 for all other bytes. */
const HIGH_DIGITS = new Uint8Array(256)
const LOW_DIGITS = new Uint8Array(256)
for (let byte = FIRST_PRINTABLE; byte <= LAST_PRINTABLE; byte++) {
  HIGH_DIGITS[byte] = byte.toString(16).charCodeAt(0)
  LOW_DIGITS[byte] = byte.toString(16).charCodeAt(1)
}

// Shared by all calls, which are synchronous and copy the result into a string.
const hexDigits = Buffer.alloc(40)

/**
 * Decodes `query[start, end)` as 20 percent-encoded bytes. Returns 40 lower-case hex digits, or `''` if there are not
 * exactly 20 bytes, an escape is broken, or a byte that must be escaped is not.
 * No character encoding is involved: `%ff` is the byte 255, and `+` is the byte 43, not a space.
 */
export function percentTo20BytesHex(query: Uint8Array, start: number, end: number): string {
  let written = 0
  let i = start
  while (i < end) {
    if (written === 40) return ''
    const byte = query[i] ?? 0
    let high: number
    let low: number
    if (byte === PERCENT) {
      if (i + 2 >= end) return ''
      high = lowerHexDigit(query[i + 1] ?? 0)
      low = lowerHexDigit(query[i + 2] ?? 0)
      i += 3
    } else {
      high = HIGH_DIGITS[byte] ?? 0
      low = LOW_DIGITS[byte] ?? 0
      i += 1
    }
    if (high === 0 || low === 0) return ''
    hexDigits[written] = high
    hexDigits[written + 1] = low
    written += 2
  }
  return written === 40 ? hexDigits.toString('latin1', 0, 40) : ''
}

/**
 * Decodes `query[start, end)` as percent-encoded text of at most `maxBytes` bytes. Returns one character (U+0000 to
 * U+00FF) per byte, or `undefined` if it is longer, an escape is broken, or a byte that must be escaped is not.
 */
export function percentToText(query: string, start: number, end: number, maxBytes: number): string | undefined {
  let text = ''
  let copied = start
  let i = start
  let bytes = 0
  while (i < end) {
    bytes += 1
    if (bytes > maxBytes) return undefined
    const code = query.charCodeAt(i)
    if (code === PERCENT) {
      if (i + 2 >= end) return undefined
      const high = hexValue(query.charCodeAt(i + 1))
      const low = hexValue(query.charCodeAt(i + 2))
      if (high < 0 || low < 0) return undefined
      text += query.slice(copied, i) + String.fromCharCode(high * 16 + low)
      i += 3
      copied = i
    } else {
      if (code < FIRST_PRINTABLE || code > LAST_PRINTABLE) return undefined
      i += 1
    }
  }
  return copied === start ? query.slice(start, end) : text + query.slice(copied, end)
}

const ZERO = 0x30
const NINE = 0x39
/** 2^53 - 1 has 16 digits. */
const MAX_DIGITS = 16
/** 2^64 - 1 has 20. */
const MAX_DIGITS_64_BIT = 20

/**
 * Parses `bytes[start, end)` as 1 to 16 decimal digits up to 2^53 - 1. Returns -1 for anything else, including signs.
 */
export function parseUnsigned(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_DIGITS) return -1
  const value = parseDigits(bytes, start, end)
  return value > Number.MAX_SAFE_INTEGER ? -1 : value
}

/** The same as {@link parseUnsigned}, but with up to 20 digits, and larger numbers are capped at 2^53 - 1. */
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
