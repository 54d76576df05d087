import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import type { AdminLogEntry } from '../../api/client.ts'
import { ACTIONS } from '../parts/actions.ts'

/** What the address of the log says. Days are `2026-01-31`, in the reader's time zone, and both are included. */
export type LogSearch = {
  readonly actor?: string | undefined
  readonly action?: AdminLogEntry['action'] | undefined
  /** The id of what something was done to. */
  readonly target?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly page?: number | undefined
}

/** Reads the address of the log. */
export function readLogSearch(raw: RawSearch): LogSearch {
  return {
    actor: textIn(raw, 'actor', 64),
    action: oneOf(raw, 'action', ACTIONS),
    target: textIn(raw, 'target', 64),
    from: dayIn(raw, 'from'),
    to: dayIn(raw, 'to'),
    page: pageIn(raw),
  }
}

function dayIn(raw: RawSearch, name: string): string | undefined {
  const text = textIn(raw, name, 10)
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && startOf(text) !== undefined ? text : undefined
}

/** When a day begins for the reader, or one some days later, as ISO 8601; undefined for what is no day. */
export function startOf(day: string, daysLater = 0): string | undefined {
  const date = new Date(`${day}T00:00:00`)
  if (Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + daysLater)
  return date.toISOString()
}
