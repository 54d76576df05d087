import { hexValue, lowerHexDigit } from '../hex.ts'

const PERCENT = 0x25
const FIRST_PRINTABLE = 0x21
const LAST_PRINTABLE = 0x7e

/** The two hex digits of each printable byte that may stand bare in a query; 0 for every other byte. */
const HIGH_DIGITS = new Uint8Array(256)
const LOW_DIGITS = new Uint8Array(256)
for (let byte = FIRST_PRINTABLE; byte <= LAST_PRINTABLE; byte++) {
  HIGH_DIGITS[byte] = byte.toString(16).charCodeAt(0)
  LOW_DIGITS[byte] = byte.toString(16).charCodeAt(1)
}

// Reused by every call: nothing in here is asynchronous, and the result is copied out as a string.
const hexDigits = Buffer.alloc(40)

/**
 * Reads `query[start, end)` as 20 percent-encoded bytes and gives them as 40 lower-case hex digits, or `''` when
 * there are not exactly 20, an escape is broken, or a byte that must be escaped stands bare.
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
 * Reads `query[start, end)` as percent-encoded text of at most `maxBytes` bytes, one character (U+0000 to U+00FF)
 * for each byte; `undefined` when it is longer, an escape is broken, or a byte that must be escaped stands bare.
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
