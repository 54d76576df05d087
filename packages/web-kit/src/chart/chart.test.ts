import { expect, test } from '@jest/globals'
import { markTexts, spanText } from './time-axis.ts'
import { formatValue, marksUpTo } from './unit.ts'

const HOUR = 3_600
const MIDNIGHT = Date.UTC(2026, 10, 22) / 1_000

test.each([
  [1_204, 'count', '1,204'],
  [2.5, 'count', '2.5'],
  [0.048, 'number', '0.05'],
  [1_204.5, 'number', '1,204.5'],
  [8.27, 'ms', '8.3 ms'],
  [1_204.6, 'ms', '1,205 ms'],
  [12_340, 'ms', '12.3 s'],
  [1_572_864_000, 'bytes', '1.46 GiB'],
] as const)('%d in %s is %s', (value, unit, text) => expect(formatValue(value, unit)).toBe(text))

test.each([
  [75, 'count', [0, 20, 40, 60, 80]],
  [80, 'count', [0, 20, 40, 60, 80]],
  [81, 'count', [0, 50, 100]],
  [3, 'count', [0, 2, 4, 6]],
  [0, 'count', [0, 2, 4, 6]],
  [null, 'count', [0, 2, 4, 6]],
  [0.04, 'number', [0, 0.02, 0.04, 0.06]],
  [130, 'ms', [0, 50, 100, 150]],
  [5_000, 'bytes', [0, 2_048, 4_096, 6_144]],
] as const)('with at most %j in %s the axis has marks at %j', (max, unit, marks) =>
  expect(marksUpTo(max, unit)).toEqual(marks),
)

test.each(['count', 'number', 'ms', 'bytes'] as const)(
  'the highest mark of %s is never below the highest value',
  (unit) => {
    for (let max = 0.013; max < 1e13; max *= 1.37) {
      const marks = marksUpTo(max, unit)
      expect(marks.at(-1)).toBeGreaterThanOrEqual(max)
      expect(marks.length).toBeLessThanOrEqual(5)
    }
  },
)

test('marks of days and months are in UTC', () => {
  expect(markTexts([MIDNIGHT, MIDNIGHT + 24 * HOUR], 24 * HOUR, 'day')).toEqual(['22 Nov', '23 Nov'])
  expect(markTexts([Date.UTC(2026, 10) / 1_000], 30 * 24 * HOUR, 'month')).toEqual(['Nov 2026'])
})

test('marks of hours are clock times, with the date at midnight', () => {
  const noon = new Date(2026, 10, 22, 12).getTime() / 1_000
  const marks = [0, 6, 12, 18].map((hours) => noon + hours * HOUR)
  expect(markTexts(marks, 6 * HOUR, 'hour')).toEqual(['12:00', '18:00', '23 Nov', '06:00'])
  expect(markTexts([noon, noon + 5], 5, 'moment')).toEqual(['12:00:00', '12:00:05'])
})

test('formats a span in full', () => {
  const noon = new Date(2026, 10, 22, 12).getTime() / 1_000
  expect(spanText(noon, 'hour')).toBe('22 Nov 2026, 12:00 to 13:00')
  expect(spanText(noon, 'moment')).toBe('22 Nov 2026, 12:00:00')
  expect(spanText(MIDNIGHT, 'day')).toBe('22 Nov 2026, UTC')
  expect(spanText(MIDNIGHT, 'month')).toBe('November 2026')
})
