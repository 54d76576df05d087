import type { Span } from './time-axis.ts'
import type { Unit } from './unit.ts'

/** The colours that a series may have: tokens of the theme. */
export type Tone = 'accent' | 'good' | 'warn' | 'bad' | 'info' | 'muted' | 'text'

/** One line of a chart, or one kind of bars. */
export type Series = {
  readonly label: string
  readonly tone: Tone
  /** Bars are for what was counted in whole spans; a dashed line is for what something is compared with. */
  readonly shape: 'line' | 'area' | 'bars' | 'dashes'
  /** One value for each time; null where there is none. */
  readonly values: readonly (number | null)[]
}

/** What a chart shows. */
export type ChartData = {
  readonly unit: Unit
  /** What the values are over: the starts of whole spans, or moments. */
  readonly span: Span
  /** Ascending, as ISO 8601 or milliseconds since 1970. */
  readonly times: readonly (string | number)[]
  /** Bars in front come last. */
  readonly series: readonly Series[]
}

/** Times in seconds, as the drawing wants them. */
export function secondsOf(times: ChartData['times']): number[] {
  return times.map((time) => new Date(time).getTime() / 1_000)
}
