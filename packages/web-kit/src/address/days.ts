import { type RawSearch, textIn } from './search.ts'

/** Days of an address, `2026-01-31` in the reader's time zone, both included. */
export type Days = { readonly from?: string | undefined; readonly to?: string | undefined }

/** The days of an address; a malformed one is left out. */
export function daysIn(raw: RawSearch): Days {
  return { from: dayIn(raw, 'from'), to: dayIn(raw, 'to') }
}

function dayIn(raw: RawSearch, name: string): string | undefined {
  const text = textIn(raw, name, 10)
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && startOf(text) !== undefined ? text : undefined
}

/** The time range of days as ISO 8601, with an exclusive end. */
export function rangeOf({ from, to }: Days): { from?: string; to?: string } {
  const start = from === undefined ? undefined : startOf(from)
  const end = to === undefined ? undefined : startOf(to, 1)
  return { ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) }
}

/** The start of a day in the reader's time zone; undefined if it is not a date. */
function startOf(day: string, daysLater = 0): string | undefined {
  const date = new Date(`${day}T00:00:00`)
  if (Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + daysLater)
  return date.toISOString()
}
