/** 32 characters that are hard to confuse when read or written down: no l, o, 0 or 1. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** @returns one character per byte, in groups of four, which are easy to read aloud. Each byte contributes five bits. */
export function randomCode(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
  return characters.replace(/.{4}(?=.)/g, '$&-')
}
