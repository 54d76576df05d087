import { expect, test } from '@jest/globals'
import { countRequests } from './request-counts.ts'

const REQUEST = { userId: 'alice', function: 'search', client: 'Sonarr', durationMs: 10, error: null }

test('requests are counted by hour, function and application, and by user', () => {
  const { hours, users } = countRequests([
    { ...REQUEST, at: new Date('2026-01-31T23:59:59Z') },
    { ...REQUEST, at: new Date('2026-02-01T00:00:00Z'), error: 500, refusedBy: 'limit', durationMs: 30 },
    { ...REQUEST, at: new Date('2026-02-01T00:00:01Z'), userId: null, error: 100, function: 'download' },
  ])
  for (const [kind, length] of [
    ['function', 3],
    ['client', 2],
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
