import { expect, test } from '@jest/globals'
import { formatAge, formatBytes, formatCount, formatDuration, formatRatio } from './index.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '0.98 KiB'],
  [1_024, '1.00 KiB'],
  [10_240, '10.0 KiB'],
  [1_048_064, '1.00 MiB'],
  [1_572_864_000, '1.46 GiB'],
  [109_951_162_777_600, '100 TiB'],
  [2 ** 60, '1024 PiB'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

test('a ratio has two digits, and is infinite if nothing was downloaded', () => {
  expect(formatRatio(1.239)).toBe('1.24')
  expect(formatRatio(null)).toBe('∞')
})

test('counts have thousands separators', () => expect(formatCount(1_234_567)).toBe('1,234,567'))

test.each([
  ['2026-01-01T00:00:30Z', 'now'],
  ['2025-12-31T23:58:00Z', '2 min'],
  ['2025-12-31T20:30:00Z', '3 h'],
  ['2025-12-22T00:00:00Z', '10 d'],
  ['2025-09-01T00:00:00Z', '4 mo'],
  ['2022-06-01T00:00:00Z', '3 y'],
  ['2026-01-02T00:00:00Z', 'now'],
])('%s is %s ago', (time, text) => expect(formatAge(time, Date.parse('2026-01-01T00:00:30Z'))).toBe(text))

test.each([
  [59, '59 s'],
  [60, '1 min'],
  [3_660, '1 h 1 min'],
  [273_600, '3 d 4 h'],
])('%d seconds last %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text))
