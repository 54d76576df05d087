import { expect, test } from '@jest/globals'
import { FULL_SCOPE } from '../access/project-caller.ts'
import type { ProjectKey } from '../integrity/rows.ts'
import { isExpired, MAX_VALID_KEYS, OVERLAP_MS, replaceKey } from './project-keys.ts'

const now = new Date('2026-11-21T12:00:00.000Z')
const at = (ms: number) => new Date(now.getTime() + ms)

function key(id: number, createdMs: number, notAfterMs: number | null): ProjectKey {
  return {
    id: String(id),
    publicKey: Buffer.alloc(32, id),
    createdAt: at(createdMs),
    notAfter: notAfterMs === null ? null : at(notAfterMs),
    scope: FULL_SCOPE,
    lastUsedAt: null,
  }
}

const added = key(9, 0, null)
const rotate = (keys: readonly ProjectKey[], overlapMs: number) =>
  replaceKey(keys, added, now, overlapMs).map(({ id, notAfter }) => [
    id,
    notAfter && notAfter.getTime() - now.getTime(),
  ])

test('a key is valid until its end, exclusive', () => {
  expect(isExpired({ notAfter: null }, now)).toBe(false)
  expect(isExpired({ notAfter: at(1) }, now)).toBe(false)
  expect(isExpired({ notAfter: now }, now)).toBe(true)
})

test.each([
  ['ends the current key after the overlap', [key(1, -1_000, null)], OVERLAP_MS, [['1', OVERLAP_MS]]],
  [
    'leaves the end of earlier keys',
    [key(1, -2_000, 240_000), key(2, -1_000, null)],
    60_000,
    [
      ['1', 240_000],
      ['2', 60_000],
    ],
  ],
  ['deletes all keys without an overlap', [key(1, -2_000, 240_000), key(2, -1_000, null)], 0, []],
  ['deletes expired keys, which may be added again', [key(9, -900_000, -1)], OVERLAP_MS, []],
])('a rotation %s', (_name, keys, overlapMs, kept) => {
  expect(rotate(keys, overlapMs)).toEqual([...kept, ['9', null]])
})

test('a rotation deletes the oldest of more than five valid keys', () => {
  const keys = [1, 2, 3, 4, 5].map((id) => key(id, id - 10, id === 5 ? null : 300_000))
  const rotated = rotate(keys, OVERLAP_MS)
  expect(rotated).toHaveLength(MAX_VALID_KEYS)
  expect(rotated[0]).toEqual(['2', 300_000])
})

test('a rotation refuses a valid key of the project', () => {
  expect(() => rotate([key(9, -1_000, null)], OVERLAP_MS)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  expect(() => rotate([key(9, -1_000, 5)], OVERLAP_MS)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
