import { expect, test } from '@jest/globals'
import { FULL_SCOPE, isExpired, MAX_VALID_KEYS, OVERLAP_MS, type ProjectKey, replaceKey } from './project-keys.ts'

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

test('a key is valid until the moment it ends, and not at it', () => {
  expect(isExpired({ notAfter: null }, now)).toBe(false)
  expect(isExpired({ notAfter: at(1) }, now)).toBe(false)
  expect(isExpired({ notAfter: now }, now)).toBe(true)
})

test('the current key gets ten minutes', () => {
  expect(replaceKey([key(1, -1_000, null)], added, now, OVERLAP_MS)).toEqual({
    add: added,
    end: [{ id: '1', notAfter: at(OVERLAP_MS) }],
    forget: [],
  })
})

test('a key that was replaced before keeps the end it has', () => {
  const { end } = replaceKey([key(1, -2_000, 240_000), key(2, -1_000, null)], added, now, OVERLAP_MS)
  expect(end).toEqual([{ id: '2', notAfter: at(OVERLAP_MS) }])
})

test('an overlap of zero removes every key', () => {
  const keys = [key(1, -2_000, 240_000), key(2, -1_000, null)]
  expect(replaceKey(keys, added, now, 0)).toEqual({ add: added, end: [], forget: ['1', '2'] })
})

test('a short overlap is for the current key alone', () => {
  const keys = [key(1, -2_000, 240_000), key(2, -1_000, null)]
  expect(replaceKey(keys, added, now, 60_000)).toEqual({
    add: added,
    end: [{ id: '2', notAfter: at(60_000) }],
    forget: [],
  })
})

test('beyond five valid keys the oldest is removed', () => {
  const keys = [1, 2, 3, 4, 5].map((id) => key(id, id - 10, id === 5 ? null : 300_000))
  const { end, forget } = replaceKey(keys, added, now, OVERLAP_MS)
  expect(end).toEqual([{ id: '5', notAfter: at(OVERLAP_MS) }])
  expect(forget).toEqual(['1'])
  expect(keys.length - forget.length + 1).toBe(MAX_VALID_KEYS)
})

test('expired keys are deleted, and may be added again', () => {
  const change = replaceKey([key(9, -900_000, -1), key(2, -1_000, null)], added, now, OVERLAP_MS)
  expect(change.forget).toEqual(['9'])
})

test('a key that the project has already is refused', () => {
  expect(() => replaceKey([key(9, -1_000, null)], added, now, OVERLAP_MS)).toThrow('has this key already')
  expect(() => replaceKey([key(9, -1_000, 5)], added, now, OVERLAP_MS)).toThrow('has this key already')
})
