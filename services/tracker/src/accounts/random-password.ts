/** 32 characters that are hard to confuse when read or written down: no l, o, 0 or 1. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Each byte contributes five bits. 100 bits cannot be guessed, whatever the limit on sign-ins. */
export const RANDOM_PASSWORD_BYTES = 20

/** @returns one character per byte, in groups of four, which are easy to read aloud */
export function randomPassword(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
  return characters.replace(/.{4}(?=.)/g, '$&-')
}
