import { randomInt } from 'node:crypto'

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Sets of characters with a name. A space is easily lost at an end, so no set has one. */
const CHARSETS: ReadonlyMap<string, string> = new Map([
  ['alphanumeric', ALPHANUMERIC],
  ['hex', '0123456789abcdef'],
  ['base64url', `${ALPHANUMERIC}-_`],
  ['ascii-printable', String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 0x21 + i))],
])

/** The names of the sets; the first is the default. */
export const CHARSET_NAMES: readonly string[] = [...CHARSETS.keys()]

/** The lengths of generated values, in characters. */
export const GENERATED_LENGTH = { min: 8, max: 4_096, default: 32 } as const

/** How to generate a value. */
export type Generation = { readonly length: number; readonly charset: string }

const MAX_CHARACTERS = 256

/** Whether a text is the name of a set, or a set itself: 2 to 256 characters, each once, without control characters. */
export function isCharset(text: string): boolean {
  const characters = charactersOf(text)
  return (
    characters.length >= 2 &&
    characters.length <= MAX_CHARACTERS &&
    new Set(characters).size === characters.length &&
    !/[\p{Cc}\p{Surrogate}]/u.test(text)
  )
}

/** Generates a value of random characters, each with the same probability. */
export function generateValue({ length, charset }: Generation): string {
  const characters = charactersOf(charset)
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('')
}

function charactersOf(charset: string): readonly string[] {
  return Array.from(CHARSETS.get(charset) ?? charset)
}
