import { expect, test } from '@jest/globals'
import { PASSWORD_LENGTH, RANDOM_PASSWORD_BYTES, randomPassword } from './accounts.ts'

test('each byte becomes one character, in groups of four', () => {
  const bytes = Uint8Array.from({ length: RANDOM_PASSWORD_BYTES }, (_, i) => i)
  expect(randomPassword(bytes)).toBe('abcd-efgh-ijkm-npqr-stuv')
})

test('each of the 32 characters is equally likely', () => {
  const counts = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const [character = ''] = randomPassword(Uint8Array.of(byte))
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  expect(counts.size).toBe(32)
  expect(new Set(counts.values())).toEqual(new Set([8]))
})

test('contains no capitals and none of l, o, 0 and 1', () => {
  const all = randomPassword(Uint8Array.from({ length: 32 }, (_, i) => i))
  expect(all).not.toMatch(/[lo01A-Z]/)
})

test('has at least 100 bits and a valid length', () => {
  expect(RANDOM_PASSWORD_BYTES * Math.log2(32)).toBeGreaterThanOrEqual(100)
  const { length } = randomPassword(new Uint8Array(RANDOM_PASSWORD_BYTES))
  expect(length).toBeGreaterThanOrEqual(PASSWORD_LENGTH.min)
  expect(length).toBeLessThanOrEqual(PASSWORD_LENGTH.max)
})
