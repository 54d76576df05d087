import { expect, test } from '@jest/globals'
import { countRequests, percentile95 } from './request-counts.ts'

const REQUEST = { userId: 'alice', function: 'search', client: 'Sonarr', durationMs: 10, error: null }

function percentileOf(times: readonly number[]): number | null {
  const { hours } = countRequests(times.map((durationMs) => ({ ...REQUEST, at: new Date(0), durationMs })))
  const counts = hours
    .filter(({ kind }) => kind === 'time')
    .map(({ name, requests }) => [Number(name), requests] as const)
  return percentile95(new Map(counts))
}

test('a percentile is at most 20 % off', () => {
  const random = (i: number) => (((i + 1) * 7_919) % 10_007) / 10_007
  for (const scale of [1, 40, 3_000]) {
    const times = Array.from({ length: 5_000 }, (_, i) => 1 + scale * random(i) ** 3)
    const exact = times.toSorted((a, b) => a - b)[4_749] ?? 0
    expect(Math.abs((percentileOf(times) ?? 0) / exact - 1)).toBeLessThanOrEqual(0.2)
  }
})

test('a percentile of no request is unknown, and of fast requests a millisecond', () => {
  expect(percentileOf([])).toBeNull()
  expect(percentileOf([0.2, 0.7, 1])).toBe(1)
})

test('requests are counted by hour, function and application, and by user', () => {
  const { hours, users } = countRequests([
    { ...REQUEST, at: new Date('2026-01-31T23:59:59Z') },
    { ...REQUEST, at: new Date('2026-02-01T00:00:00Z'), error: 500, refusedBy: 'limit', durationMs: 30 },
    { ...REQUEST, at: new Date('2026-02-01T00:00:01Z'), userId: null, error: 100, function: 'download' },
  ])
  for (const [kind, length] of [
    ['function', 3],
    ['client', 2],
    ['time', 3],
  ] as const) {
    const rows = hours.filter((row) => row.kind === kind)
    expect(rows).toHaveLength(length)
    expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(3)
    expect(rows.reduce((sum, row) => sum + row.durationMs, 0)).toBe(50)
  }
  expect(hours.at(1)).toMatchObject({ kind: 'client', hour: new Date('2026-02-01T00:00Z'), requests: 2, errors: 2 })
  const [firstAt, lastAt] = [new Date('2026-01-31T23:59:59Z'), new Date('2026-02-01T00:00:00Z')]
  expect(users).toEqual([{ userId: 'alice', requests: 2, downloads: 0, errors: 1, violations: 1, firstAt, lastAt }])
})
