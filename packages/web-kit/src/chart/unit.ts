import { formatBytes, formatCount } from '../format/index.ts'

/** What the values of a chart are. Rates of bytes are bytes; a `number` is anything that may be a fraction. */
export type Unit = 'count' | 'number' | 'ms' | 'bytes'

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
export function stepsOf(unit: Unit): number[] {
  if (unit === 'bytes') return Array.from({ length: 60 }, (_, power) => 2 ** power)
  const least = unit === 'number' ? -2 : 0
  return Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** (power + least))).flat()
}

/** The least that an axis reaches to, so that its marks can be told apart where there is nothing. */
export function leastHeight(unit: Unit): number {
  return unit === 'bytes' ? 1_024 : unit === 'number' ? 0.05 : 5
}
