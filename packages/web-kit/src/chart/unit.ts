import { formatBytes, formatCount } from '../format/index.ts'

/** What the values of a chart are. Rates of bytes are bytes; a `number` is anything that may be a fraction. */
export type Unit = 'count' | 'number' | 'ms' | 'bytes'

/** Between the marks of an axis; they then stand some 35 pixels apart. */
const MOST_STEPS = 4

/** A value as the axis, the reading and the table show it: `1,204`, `38 ms`, `1.46 GiB`. */
export function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case 'count':
      return formatCount(value)
    case 'number':
      return formatCount(Number(value.toFixed(2)))
    case 'ms':
      return formatMilliseconds(value)
    case 'bytes':
      return formatBytes(value)
  }
}

function formatMilliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1_000).toFixed(1)} s`
  return `${value >= 10 || Number.isInteger(value) ? formatCount(Math.round(value)) : value.toFixed(1)} ms`
}

/** The distances that marks of the axis may have. Half a request cannot be counted. */
function stepsOf(unit: Unit): number[] {
  if (unit === 'bytes') return Array.from({ length: 60 }, (_, power) => 2 ** power)
  const least = unit === 'number' ? -2 : 0
  return Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** (power + least))).flat()
}

/** The least that an axis reaches to, so that its marks can be told apart where there is nothing. */
function leastHeight(unit: Unit): number {
  return unit === 'bytes' ? 1_024 : unit === 'number' ? 0.05 : 5
}

/** The marks of an axis, from 0 to the first at or above the highest value. As many as fit in a plot. @param max null where there is no value */
export function marksUpTo(max: number | null, unit: Unit): number[] {
  const height = Math.max(max ?? 0, leastHeight(unit))
  const steps = stepsOf(unit)
  const step = steps.find((each) => Math.ceil(height / each) <= MOST_STEPS) ?? height
  return Array.from({ length: Math.ceil(height / step) + 1 }, (_, index) => Number((index * step).toFixed(2)))
}
