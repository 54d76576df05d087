import { expect, test } from '@jest/globals'
import { FULL_SCOPE } from '../access/project-caller.ts'
import type { ProjectKey } from '../integrity/rows.ts'
import {
  addKey,
  endedState,
  isExpired,
  listKeys,
  MAX_ENDED_KEYS,
  MAX_VALID_KEYS,
  type NewKey,
  OVERLAP_MS,
  replaceKey,
} from './project-keys.ts'

const now = new Date('2026-11-21T12:00:00.000Z')
const at = (ms: number) => new Date(now.getTime() + ms)
const DAY_MS = 86_400_000

function key(id: number, createdMs: number, notAfterMs: number | null, more: Partial<ProjectKey> = {}): ProjectKey {
  return {
    id: String(id),
    name: 'default',
    publicKey: Buffer.alloc(32, id),
    createdAt: at(createdMs),
    notAfter: notAfterMs === null ? null : at(notAfterMs),
    expiresAt: null,
    revokedAt: null,
    scope: FULL_SCOPE,
    lastUsedAt: null,
    ...more,
  }
}
const expiring = (id: number, createdMs: number, ms: number, more: Partial<ProjectKey> = {}) =>
  key(id, createdMs, ms, { expiresAt: at(ms), ...more })

const added: NewKey = { id: '9', name: 'default', publicKey: Buffer.alloc(32, 9), createdAt: now }
const EVERYTHING = { scope: FULL_SCOPE, expiresAt: null }

/** Each key with its end relative to now. */
const ends = (keys: readonly ProjectKey[]) =>
  keys.map((each) => [
    each.id,
    isExpired(each, now) ? endedState(each) : each.notAfter && each.notAfter.getTime() - now.getTime(),
  ])
const rotate = (keys: readonly ProjectKey[], overlapMs: number) => ends(replaceKey(keys, added, { overlapMs }))
const code = (expected: string) => expect.objectContaining({ code: expected })

test('a key is valid until its end, exclusive', () => {
  expect(isExpired({ notAfter: null }, now)).toBe(false)
  expect(isExpired({ notAfter: at(1) }, now)).toBe(false)
  expect(isExpired({ notAfter: now }, now)).toBe(true)
})

test.each([
  ['ends the current key after the overlap', [key(1, -1_000, null)], OVERLAP_MS, [['1', OVERLAP_MS]]],
  ['ends an expiring key after the overlap', [expiring(1, -1_000, 900_000)], OVERLAP_MS, [['1', OVERLAP_MS]], 900_000],
  ['does not extend a key that expires in the overlap', [key(1, -1_000, 5_000)], OVERLAP_MS, [['1', 5_000]]],
  [
    'leaves the end of earlier keys',
    [key(1, -2_000, 240_000), key(2, -1_000, null)],
    60_000,
    [
      ['1', 240_000],
      ['2', 60_000],
    ],
  ],
  [
    'revokes all keys of its name without an overlap',
    [key(1, -2_000, 240_000), key(2, -1_000, null), key(3, -1_000, null, { name: 'ci' })],
    0,
    [
      ['1', 'revoked'],
      ['2', 'revoked'],
      ['3', null],
    ],
  ],
  ['replaces an expired key with the same public key', [key(9, -900_000, -1)], OVERLAP_MS, []],
] as const)('a rotation %s', (_name, keys, overlapMs, kept, end: number | null = null) => {
  expect(rotate(keys, overlapMs)).toEqual([...kept, ['9', end]])
})

test('a rotation revokes the oldest of more than five valid keys', () => {
  const keys = [1, 2, 3, 4, 5].map((id) => key(id, id - 10, id === 5 ? null : 300_000))
  const rotated = rotate(keys, OVERLAP_MS)
  expect(rotated[0]).toEqual(['1', 'revoked'])
  expect(rotated.filter(([, end]) => end !== 'revoked')).toHaveLength(MAX_VALID_KEYS)
})

test('a rotation refuses a valid key of the project, under any name', () => {
  for (const each of [key(9, -1_000, null), key(9, -1_000, 5), key(9, -1_000, null, { name: 'ci' })])
    expect(() => rotate([key(1, -1_000, null), each], OVERLAP_MS)).toThrow(code('invalid_request'))
})

test('a rotation keeps scope and expiry, even after a mistaken rotation was revoked', () => {
  const scope = { access: 'read', envs: ['staging'] } as const
  const first = [expiring(1, -1_000, 30 * DAY_MS, { scope })]
  const second = replaceKey(first, added, { overlapMs: OVERLAP_MS })
  expect(second.at(-1)).toMatchObject({ scope, expiresAt: at(30 * DAY_MS), notAfter: at(30 * DAY_MS) })
  const revoked = second.map((each) => (each.id === '9' ? { ...each, notAfter: new Date(0), revokedAt: now } : each))
  const third = replaceKey(revoked, { ...added, id: '10', publicKey: Buffer.alloc(32, 10) }, { overlapMs: OVERLAP_MS })
  expect(third.at(-1)).toMatchObject({ scope, expiresAt: at(30 * DAY_MS) })
  const lasting = replaceKey(first, added, { overlapMs: 0, expiresAt: null, scope: FULL_SCOPE })
  expect(lasting.at(-1)).toMatchObject({ scope: FULL_SCOPE, notAfter: null })
})

test('a rotation finds the expired default key, but no other expired key', () => {
  const scope = { access: 'read', envs: null } as const
  expect(replaceKey([key(1, -9, -1, { scope })], added, { overlapMs: 0 }).at(-1)).toMatchObject({ scope })
  const ofCi = { ...added, name: 'ci' }
  expect(() => replaceKey([key(1, -9, -1, { name: 'ci' })], ofCi, { overlapMs: 0 })).toThrow(code('not_found'))
  // An expiry in the past would end the new key at once.
  expect(() => replaceKey([expiring(1, -9, -1)], added, { overlapMs: 0 })).toThrow(code('invalid_request'))
})

test('refuses an expiry that is not in the next ten years', () => {
  for (const expiresAt of [at(-1), now, at(11 * 366 * DAY_MS), new Date(Number.NaN)])
    expect(() => addKey([], added, { ...EVERYTHING, expiresAt })).toThrow(code('invalid_request'))
})

test('forgets keys that expired over 30 days ago, and the oldest of many, but never the newest default key', () => {
  const old = -31 * DAY_MS
  const scope = { access: 'read', envs: null } as const
  const ended = Array.from({ length: MAX_ENDED_KEYS + 20 }, (_, i) =>
    key(i + 10, -9_000, -1_000 - i, { name: 'ci', publicKey: Buffer.alloc(32, i + 10) }),
  )
  const revoked = key(1, old - 5, 0, { notAfter: new Date(0), revokedAt: at(-1), name: 'ci' })
  const before = [key(2, old - 10, old, { scope }), key(3, old - 9, old, { name: 'ci' }), revoked, ...ended]
  const kept = addKey(before, { ...added, name: 'new' }, EVERYTHING).map(({ id }) => id)
  expect(kept).toHaveLength(MAX_ENDED_KEYS + 2)
  expect(kept).toEqual(expect.arrayContaining(['1', '2', '9', '10']))
  expect(kept).not.toContain('3')
  expect(kept).not.toContain(String(MAX_ENDED_KEYS + 10))
  expect(listKeys(before, now, { ended: true }).map(({ id }) => id)).not.toContain('2')
})
