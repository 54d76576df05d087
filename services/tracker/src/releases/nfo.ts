/** The maximum size of an NFO file in bytes. */
export const MAX_NFO_BYTES = 48 * 1024

/** The characters of code page 437 from 0x80 on. */
const UPPER =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0'
/** Its characters below 0x20, which are drawings too. */
const LOWER = ' ☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§↑↓→←∟↔▲▼'

/** The end of the text for DOS. Signatures of drawing programs follow it. */
const END_OF_TEXT = 0x1a
const COLOURS = /\u001B\[[0-9;]*[A-Za-z]/g
const NOT_SHOWN = /(?![\t\n\u00AD\u200C\u200D])\p{C}/gu

/** The text of an NFO file, without control characters. Files that are not UTF-8 are in code page 437. */
export function decodeNfo(bytes: Uint8Array): string {
  const end = bytes.indexOf(END_OF_TEXT)
  const text = end < 0 ? bytes : bytes.subarray(0, end)
  const decoded = fromUtf8(text) ?? Array.from(text, fromCp437).join('')
  const lines = decoded.replace(COLOURS, '').replace(/\r\n?/g, '\n').replace(NOT_SHOWN, '').split('\n')
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd()
}

function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function fromCp437(byte: number): string {
  if (byte >= 0x80) return UPPER[byte - 0x80] ?? ' '
  if (byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d || byte === 0x1b)
    return byte === 0x7f ? '⌂' : String.fromCharCode(byte)
  return LOWER[byte] ?? ' '
}
