import { expect, test } from '@jest/globals'
import { randomCode } from './random-codes.ts'

test('each byte becomes one character, in groups of four', () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, i) => i)
  expect(randomCode(bytes)).toBe('abcd-efgh-ijkm-npqr-stuv')
})

test('each of the 32 characters is equally likely', () => {
  const counts = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const [character = ''] = randomCode(Uint8Array.of(byte))
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  expect(counts.size).toBe(32)
  expect(new Set(counts.values())).toEqual(new Set([8]))
})

test('contains no capitals and none of l, o, 0 and 1', () => {
  const all = randomCode(Uint8Array.from({ length: 32 }, (_, i) => i))
  expect(all).not.toMatch(/[lo01A-Z]/)
})
