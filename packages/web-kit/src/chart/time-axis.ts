/** The time that a value covers. */
export type Span = 'moment' | 'hour' | 'day' | 'month'

const DAY_S = 86_400
const NEARLY_A_MONTH_S = 27 * DAY_S

/** Days and months are in UTC, hours in the reader's time zone. */
function zoneOf(span: Span): { timeZone?: 'UTC' } {
  return span === 'day' || span === 'month' ? { timeZone: 'UTC' } : {}
}

/**
 * The texts of axis marks: clock times with the date at midnight, days, or months.
 *
 * @param marks seconds since 1970
 * @param distance seconds between two marks
 */
export function markTexts(marks: readonly number[], distance: number, span: Span): string[] {
  const zone = zoneOf(span)
  const day = new Intl.DateTimeFormat('en-GB', { ...zone, day: 'numeric', month: 'short' })
  if (distance >= NEARLY_A_MONTH_S)
    return textsOf(marks, new Intl.DateTimeFormat('en-GB', { ...zone, month: 'short', year: 'numeric' }))
  if (distance >= DAY_S) return textsOf(marks, day)
  const clock = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    hour: '2-digit',
    minute: '2-digit',
    ...(distance < 60 && { second: '2-digit' }),
  })
  const days = textsOf(marks, day)
  return textsOf(marks, clock).map((text, index) => {
    const isNewDay = index > 0 && days[index] !== days[index - 1]
    return isNewDay ? (days[index] ?? text) : text
  })
}

/** A span or moment in full: `22 Nov 2026, 14:00 to 15:00`. @param start seconds since 1970 */
export function spanText(start: number, span: Span): string {
  const time = new Date(start * 1_000)
  const zone = zoneOf(span)
  if (span === 'month') return format(time, { ...zone, month: 'long', year: 'numeric' })
  if (span === 'day') return `${format(time, { ...zone, dateStyle: 'medium' })}, UTC`
  if (span === 'moment') return format(time, { dateStyle: 'medium', timeStyle: 'medium' })
  const end = new Date((start + 3_600) * 1_000)
  return `${format(time, { dateStyle: 'medium', timeStyle: 'short' })} to ${format(end, { timeStyle: 'short' })}`
}

function format(time: Date, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', options).format(time)
}

function textsOf(marks: readonly number[], format: Intl.DateTimeFormat): string[] {
  return marks.map((mark) => format.format(new Date(mark * 1_000)))
}
