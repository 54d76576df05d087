const NOT_HEX = 255

/** Value of a hex digit by character code, 255 for every other code below 256. */
const DIGIT_VALUES = new Uint8Array(256).fill(NOT_HEX)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  DIGIT_VALUES[digit.charCodeAt(0)] = value
  DIGIT_VALUES[digit.toUpperCase().charCodeAt(0)] = value
}

/** The ASCII codes of `0123456789abcdef`. */
export const LOWER_HEX_CODES = Buffer.from('0123456789abcdef', 'latin1')

/**
 * The value 0..15 of a hex digit in either case, -1 for anything else.
 * NaN, which `charCodeAt` gives past the end of a string, is "anything else".
 */
export function hexValue(charCode: number): number {
  const value = DIGIT_VALUES[charCode]
  return value === undefined || value === NOT_HEX ? -1 : value
}

/** True when `text` is exactly 40 hex digits, upper or lower case. */
export function isHex40(text: string): boolean {
  if (text.length !== 40) return false
  for (let i = 0; i < 40; i++) {
    if (hexValue(text.charCodeAt(i)) < 0) return false
  }
  return true
}
