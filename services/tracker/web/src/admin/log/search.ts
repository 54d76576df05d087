import { pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import type { AdminLogEntry } from '../../api/client.ts'
import { ACTION_NAMES } from '../parts/actions.ts'

/** The address of the log. Days are `2026-01-31` in the reader's time zone, both included. */
export type LogSearch = {
  readonly actor?: string | undefined
  readonly action?: AdminLogEntry['action'] | undefined
  /** The id of the user, torrent or category that was changed. */
  readonly target?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly page?: number | undefined
}

export function readLogSearch(raw: RawSearch): LogSearch {
  return {
    actor: textIn(raw, 'actor', 64),
    action: ACTION_NAMES.find(([action]) => action === raw['action'])?.[0],
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

/** The start of a day in the reader's time zone, as ISO 8601; undefined if it is not a date. */
export function startOf(day: string, daysLater = 0): string | undefined {
  const date = new Date(`${day}T00:00:00`)
  if (Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + daysLater)
  return date.toISOString()
}
