import { expect, test } from '@jest/globals'
import { markTexts, spanText } from './time-axis.ts'
import { formatValue, stepsOf } from './unit.ts'

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

test('marks of an axis of counts are whole, those of bytes are powers of two', () => {
  expect(stepsOf('count').slice(0, 5)).toEqual([1, 2, 5, 10, 20])
  expect(stepsOf('bytes').slice(0, 3)).toEqual([1, 2, 4])
})

test('marks of days and months are of UTC, as these spans are', () => {
  expect(markTexts([MIDNIGHT, MIDNIGHT + 24 * HOUR], 24 * HOUR, 'day')).toEqual(['22 Nov', '23 Nov'])
  expect(markTexts([Date.UTC(2026, 10) / 1_000], 30 * 24 * HOUR, 'month')).toEqual(['Nov 2026'])
})

test('marks of hours are clock times, with the day where a new one begins', () => {
  const noon = new Date(2026, 10, 22, 12).getTime() / 1_000
  const marks = [0, 6, 12, 18].map((hours) => noon + hours * HOUR)
  expect(markTexts(marks, 6 * HOUR, 'hour')).toEqual(['12:00', '18:00', '23 Nov', '06:00'])
  expect(markTexts([noon, noon + 5], 5, 'moment')).toEqual(['12:00:00', '12:00:05'])
})

test('a span is told in full', () => {
  const noon = new Date(2026, 10, 22, 12).getTime() / 1_000
  expect(spanText(noon, 'hour')).toBe('22 Nov 2026, 12:00 to 13:00')
  expect(spanText(noon, 'moment')).toBe('22 Nov 2026, 12:00:00')
  expect(spanText(MIDNIGHT, 'day')).toBe('22 Nov 2026, UTC')
  expect(spanText(MIDNIGHT, 'month')).toBe('November 2026')
})
