import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { CHAIN_START, type ChainedRow, chainCode, GAP_TIMEOUT_MS, gapsAfter } from './chain.ts'

const key = createSecretKey(randomBytes(32))
const row: ChainedRow = {
  seq: 7,
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  projectUid: null,
  projectId: 'shop',
  action: 'fetch',
  env: 'production',
  requestedAt: '2026-11-21T08:00:00.123000',
  address: '127.0.0.1',
  detail: null,
  actor: null,
}

test.each<Partial<ChainedRow>>([
  { seq: 8 },
  { id: '01890a5d-ac96-774b-bcce-b302099a8058' },
  { projectUid: '' },
  { projectId: 'shop2' },
  { action: 'rotate' },
  { env: null },
  { requestedAt: '2026-11-21T08:00:00.123001' },
  { address: '127.0.0.2' },
  { detail: '{}' },
  { actor: '' },
  { actor: 'key:00' },
  // The same letters in different columns.
  { projectId: 'shopfetch', action: '' },
])('a row with %p has a different code', (change) => {
  expect(chainCode(key, CHAIN_START, { ...row, ...change })).not.toEqual(chainCode(key, CHAIN_START, row))
})

test('a code depends on the previous row and on the key', () => {
  const code = chainCode(key, CHAIN_START, row)
  expect(chainCode(key, CHAIN_START, row)).toEqual(code)
  expect(chainCode(key, code, row)).not.toEqual(code)
  expect(chainCode(createSecretKey(randomBytes(32)), CHAIN_START, row)).not.toEqual(code)
})

test('numbers are gaps until their rows become visible', () => {
  const first = gapsAfter([], 0, [1, 2, 5, 9], 1_000)
  expect(first).toEqual({
    position: 9,
    gaps: [
      [3, 4, 1_000],
      [6, 8, 1_000],
    ],
  })
  const second = gapsAfter(first.gaps, first.position, [3, 7, 10], 2_000)
  expect(second).toEqual({
    position: 10,
    gaps: [
      [4, 4, 1_000],
      [6, 6, 1_000],
      [8, 8, 1_000],
    ],
  })
  expect(gapsAfter(second.gaps, 10, [4, 6, 8], 3_000)).toEqual({ position: 10, gaps: [] })
})

test('gaps time out', () => {
  expect(gapsAfter([[3, 4, 1_000]], 9, [10], 1_000 + GAP_TIMEOUT_MS - 1).gaps).toHaveLength(1)
  expect(gapsAfter([[3, 4, 1_000]], 9, [10], 1_000 + GAP_TIMEOUT_MS).gaps).toEqual([])
})
