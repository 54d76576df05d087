/** The spans of time that requests are counted by, all in UTC. */
export const SPANS = ['hour', 'day', 'month'] as const
export type Span = (typeof SPANS)[number]

/** Consecutive spans of one kind: from the start of the first to the end of the last. */
export type Segment = { readonly span: Span; readonly from: Date; readonly to: Date }

/** The start of the span that a time is in. */
export function startOf(span: Span, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  switch (span) {
    case 'hour':
      return new Date(Date.UTC(year, month, day, time.getUTCHours()))
    case 'day':
      return new Date(Date.UTC(year, month, day))
    case 'month':
      return new Date(Date.UTC(year, month))
  }
}

/** The start of the span after the one that a time is in. */
export function nextStart(span: Span, time: Date): Date {
  const start = startOf(span, time)
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()]
  switch (span) {
    case 'hour':
      return new Date(start.getTime() + 3_600_000)
    case 'day':
      return new Date(Date.UTC(year, month, day + 1))
    case 'month':
      return new Date(Date.UTC(year, month + 1))
  }
}

/** The time itself where a span starts at it, else the start of the next. */
export function endOf(span: Span, time: Date): Date {
  const start = startOf(span, time)
  return start.getTime() === time.getTime() ? start : nextStart(span, time)
}

/**
 * Covers a range with as few spans as possible: months inside, then days, then hours at both ends. So ten years are
 * read from some two hundred spans.
 *
 * @param from the start of an hour
 * @param to the start of an hour
 * @param coarsest the longest span to use
 */
export function segmentsOf(from: Date, to: Date, coarsest: Span = 'month'): readonly Segment[] {
  return cover(from, to, SPANS.slice(0, SPANS.indexOf(coarsest) + 1).toReversed())
}

function cover(from: Date, to: Date, [span, ...finer]: readonly Span[]): readonly Segment[] {
  if (span === undefined || from.getTime() >= to.getTime()) return []
  const [first, last] = [endOf(span, from), startOf(span, to)]
  if (first.getTime() >= last.getTime()) return cover(from, to, finer)
  return [...cover(from, first, finer), { span, from: first, to: last }, ...cover(last, to, finer)]
}
