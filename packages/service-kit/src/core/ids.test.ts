import { expect, jest, test } from '@jest/globals'
import { isId, newId } from './ids.ts'

test('ids are UUIDv7 with the current time, and increase even within a millisecond', () => {
  const before = Date.now()
  const ids = Array.from({ length: 10_000 }, newId)
  const after = Date.now()
  expect(ids.every(isId)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) {
    const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(after)
  }
})

test('ids increase while the clock goes back', () => {
  const first = newId()
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000)
  const second = newId()
  jest.restoreAllMocks()
  expect([first, second, newId()].toSorted()).toEqual([first, second, expect.any(String)])
})

test.each([
  ['another version', '8f14e45f-ceea-467f-a8b6-3c6e5b1d2c3a'],
  ['upper case', '01890A5D-AC96-774B-BCCE-B302099A8057'],
  ['no UUID', 'shop'],
  ['one with something behind it', '01890a5d-ac96-774b-bcce-b302099a8057 '],
])('%s is not an id', (_what, text) => {
  expect(isId(text)).toBe(false)
})
