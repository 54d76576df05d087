import { expect, test } from '@jest/globals'
import { addTo, bucketOf, percentile } from './statistics-histogram.ts'
import { rollUp } from './statistics-rollup.ts'
import { nextStart, segmentsOf, startOf } from './statistics-spans.ts'
import { countUsers, withUsers } from './statistics-users.ts'

const outline = (from: string, to: string) =>
  segmentsOf(new Date(from), new Date(to)).map(
    (segment) => `${segment.span} ${segment.from.toISOString().slice(0, 13)} ${segment.to.toISOString().slice(0, 13)}`,
  )

test.each([
  ['2026-03-10T05:00Z', '2026-03-10T09:00Z', ['hour 2026-03-10T05 2026-03-10T09']],
  ['2026-03-10T00:00Z', '2026-03-11T00:00Z', ['day 2026-03-10T00 2026-03-11T00']],
  ['2026-03-10T05:00Z', '2026-03-11T05:00Z', ['hour 2026-03-10T05 2026-03-11T05']],
  [
    '2026-03-10T05:00Z',
    '2026-03-13T02:00Z',
    ['hour 2026-03-10T05 2026-03-11T00', 'day 2026-03-11T00 2026-03-13T00', 'hour 2026-03-13T00 2026-03-13T02'],
  ],
  [
    '2025-11-30T23:00Z',
    '2026-02-02T01:00Z',
    [
      'hour 2025-11-30T23 2025-12-01T00',
      'month 2025-12-01T00 2026-02-01T00',
      'day 2026-02-01T00 2026-02-02T00',
      'hour 2026-02-02T00 2026-02-02T01',
    ],
  ],
  ['2026-03-10T05:00Z', '2026-03-10T05:00Z', []],
])('the range from %s to %s is covered by as few spans as possible', (from, to, expected) => {
  expect(outline(from, to)).toEqual(expected)
})

test('spans of any range follow each other without a gap', () => {
  const begin = Date.UTC(2024, 1, 27)
  for (let i = 0; i < 2_000; i++) {
    const from = new Date(begin + (i % 97) * 3_600_000 * 7)
    const to = new Date(from.getTime() + ((i * i) % 20_011) * 3_600_000)
    let at = from.getTime()
    for (const segment of segmentsOf(from, to)) {
      expect(segment.from.getTime()).toBe(at)
      expect(startOf(segment.span, segment.from)).toEqual(segment.from)
      expect(startOf(segment.span, segment.to)).toEqual(segment.to)
      at = segment.to.getTime()
    }
    expect(at).toBe(to.getTime())
  }
})

test('a leap day and the end of a year have the next start that a calendar has', () => {
  expect(nextStart('day', new Date('2028-02-28T12:00Z'))).toEqual(new Date('2028-02-29T00:00Z'))
  expect(nextStart('month', new Date('2026-12-31T23:59Z'))).toEqual(new Date('2027-01-01T00:00Z'))
})

test('a percentile is at most 5 % off', () => {
  const random = (i: number) => (((i + 1) * 7_919) % 10_007) / 10_007
  for (const scale of [1, 40, 3_000]) {
    const times = Array.from({ length: 5_000 }, (_, i) => 1 + scale * random(i) ** 3)
    const counts: number[] = []
    for (const time of times) addTo(counts, bucketOf(time), 1)
    const sorted = times.toSorted((a, b) => a - b)
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      expect(Math.abs((percentile(counts, share) ?? 0) / exact - 1)).toBeLessThan(0.05)
    }
  }
})

test('a percentile of nothing is unknown, and of one request the request', () => {
  expect(percentile([], 0.95)).toBeNull()
  expect(percentile([0, 0], 0.95)).toBeNull()
  const one: number[] = []
  addTo(one, bucketOf(20), 1)
  expect(Math.abs((percentile(one, 0.95) ?? 0) / 20 - 1)).toBeLessThan(0.05)
  expect(percentile([3], 0.95)).toBe(1)
})

test('sets of users count everybody once', () => {
  const morning = withUsers(new Uint8Array(), [0, 1, 9, 1_000])
  const evening = withUsers(withUsers(new Uint8Array(), [9]), [2, 7])
  expect(countUsers([morning, evening])).toBe(6)
  expect(countUsers([])).toBe(0)
  expect(withUsers(morning, [1_000, 9])).toBe(morning)
  expect(morning).toHaveLength(126)
})

test('a rollup counts requests by hour, day and month, and by user', () => {
  const request = { userId: 'alice', function: 'search', client: 'Sonarr', durationMs: 10, error: null }
  const { counts, users, userSets } = rollUp([
    { ...request, at: new Date('2026-01-31T23:59:59Z') },
    { ...request, at: new Date('2026-02-01T00:00:00Z'), error: 500, refusedBy: 'limit', durationMs: 30 },
    { ...request, at: new Date('2026-02-01T00:00:01Z'), userId: null, error: 100, function: 'download' },
  ])
  for (const span of ['hour', 'day', 'month'])
    for (const kind of ['all', 'function', 'client']) {
      const rows = counts.filter((row) => row.span === span && row.kind === kind)
      expect(rows).toHaveLength(kind === 'function' ? 3 : 2)
      expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(3)
      expect(rows.reduce((sum, row) => sum + row.durationMs, 0)).toBe(50)
    }
  const [, february] = counts.filter((row) => row.span === 'month' && row.kind === 'all')
  expect(february).toMatchObject({ start: new Date('2026-02-01T00:00Z'), name: '', requests: 2, errors: 2 })
  expect(february?.buckets.reduce((sum, count) => sum + count, 0)).toBe(2)
  expect(users).toEqual([
    { userId: 'alice', requests: 2, downloads: 0, errors: 1, violations: 1, lastAt: new Date('2026-02-01T00:00:00Z') },
  ])
  expect(userSets).toHaveLength(6)
})
