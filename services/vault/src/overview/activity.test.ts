import { expect, test } from '@jest/globals'
import { type CountedHour, createActivity } from './activity.ts'

const HOUR_MS = 3_600_000
const now = Date.UTC(2026, 10, 22, 12, 30)
const current = Date.UTC(2026, 10, 22, 12)

const hour = (ago: number, entries: number): CountedHour => ({
  ...{ start: current - ago * HOUR_MS, entries, fetches: entries, writes: 0, refused: 0 },
})

function activity(hours: readonly CountedHour[], max: number) {
  const store = { countHours: () => Promise.resolve(hours) }
  return createActivity({ store, clock: { now: () => now }, max })
}

test('returns all hours of a range, including those without entries', async () => {
  const hours = await activity([hour(0, 3), hour(2, 5)], 100).of('24h', { projectIds: undefined })
  expect(hours).toHaveLength(24)
  expect(hours[0]?.start).toEqual(new Date(current - 23 * HOUR_MS))
  expect(hours.slice(-3).map(({ fetches }) => fetches)).toEqual([5, 0, 3])
  expect(hours[0]?.fetches).toBe(0)
})

test('returns null for hours that were not counted completely', async () => {
  const hours = await activity([hour(0, 3), hour(2, 5)], 8).of('24h', { projectIds: undefined })
  expect(hours.slice(-4).map(({ fetches }) => fetches)).toEqual([null, null, 0, 3])
})
