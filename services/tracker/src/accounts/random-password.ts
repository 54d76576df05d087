/** 32 characters that are not mistaken for each other when they are read or written down: no l, o, 0 and 1. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Each byte gives five bits: 100 bits, which nobody guesses, whatever the limit on sign-ins is. */
export const RANDOM_PASSWORD_BYTES = 20

/** @returns a character for each byte, in groups of four, which are easy to read aloud */
export function randomPassword(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
  return characters.replace(/.{4}(?=.)/g, '$&-')
}
