import { expect, test } from '@jest/globals'
import { CHARSET_NAMES, generateValue, isCharset } from './generated.ts'

test.each([
  ['alphanumeric', 62],
  ['hex', 16],
  ['base64url', 64],
  ['ascii-printable', 94],
  ['ab😀', 3],
])('%s generates each of its %i characters equally often', (charset, size) => {
  const length = size * 2_000
  const counts = new Map<string, number>()
  for (const character of generateValue({ length, charset })) counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(size)
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 2_000) ** 2 / 2_000, 0)
  // Exceeded by chance once in more than a million runs. A byte modulo 94 would exceed it twenty times.
  expect(chiSquare).toBeLessThan(size - 1 + 7 * Math.sqrt(2 * (size - 1)) + 25)
})

test('never generates a value twice', () => {
  const values = Array.from({ length: 100 }, () => generateValue({ length: 32, charset: 'hex' }))
  expect(new Set(values).size).toBe(100)
})

test('accepts names of sets, and sets of 2 to 256 different characters', () => {
  expect(CHARSET_NAMES.every(isCharset)).toBe(true)
  expect(['01', 'abcdef', '😀🔑', 'a b'].every(isCharset)).toBe(true)
  const many = String.fromCodePoint(...Array.from({ length: 257 }, (_, i) => 0x4e00 + i))
  expect(isCharset(many.slice(1))).toBe(true)
  expect(['', 'a', 'aa', 'aba', 'ab\t', '\ud800a', many].some(isCharset)).toBe(false)
})
