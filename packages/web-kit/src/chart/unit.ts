import { formatBytes, formatCount } from '../format/index.ts'

/** The unit of the values. A `number` may be a fraction. */
export type Unit = 'count' | 'number' | 'ms' | 'bytes'

/** So that marks are about 35 pixels apart. */
const MOST_STEPS = 4

/** `1,204`, `38 ms`, `1.46 GiB`. */
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

/** The possible distances between marks. Counts have no fractions. */
function stepsOf(unit: Unit): number[] {
  if (unit === 'bytes') return Array.from({ length: 60 }, (_, power) => 2 ** power)
  const least = unit === 'number' ? -2 : 0
  return Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** (power + least))).flat()
}

/** The minimum height of an axis. */
function leastHeight(unit: Unit): number {
  return unit === 'bytes' ? 1_024 : unit === 'number' ? 0.05 : 5
}

/** The marks of an axis, from 0 to the first at or above `max`. */
export function marksUpTo(max: number | null, unit: Unit): number[] {
  const height = Math.max(max ?? 0, leastHeight(unit))
  const steps = stepsOf(unit)
  const step = steps.find((each) => Math.ceil(height / each) <= MOST_STEPS) ?? height
  return Array.from({ length: Math.ceil(height / step) + 1 }, (_, index) => Number((index * step).toFixed(2)))
}
