import type { Span } from './time-axis.ts'
import type { Unit } from './unit.ts'

/** A colour token of the theme. */
export type Tone = 'accent' | 'good' | 'warn' | 'bad' | 'info' | 'muted' | 'text'

export type Series = {
  readonly label: string
  readonly tone: Tone
  /** Bars are for counts per span, dashes for comparison. */
  readonly shape: 'line' | 'area' | 'bars' | 'dashes'
  /** One value per time; null if there is none. */
  readonly values: readonly (number | null)[]
}

export type ChartData = {
  readonly unit: Unit
  /** Whether the times are moments or the starts of hours, days or months. */
  readonly span: Span
  /** Ascending, as ISO 8601 or milliseconds since 1970. */
  readonly times: readonly (string | number)[]
  /** Bars in front come last. */
  readonly series: readonly Series[]
}

/** The times in seconds. */
export function secondsOf(times: ChartData['times']): number[] {
  return times.map((time) => new Date(time).getTime() / 1_000)
}
