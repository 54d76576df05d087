import { type Days, daysIn, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import type { AdminLogEntry } from '../../api/client.ts'
import { ACTION_NAMES } from '../parts/actions.ts'

/** The address of the log. */
export type LogSearch = Days & {
  readonly actor?: string | undefined
  readonly action?: AdminLogEntry['action'] | undefined
  /** The id of the user, torrent or category that was changed. */
  readonly target?: string | undefined
  readonly page?: number | undefined
}

export function readLogSearch(raw: RawSearch): LogSearch {
  return {
    actor: textIn(raw, 'actor', 64),
    action: ACTION_NAMES.find(([action]) => action === raw['action'])?.[0],
    target: textIn(raw, 'target', 64),
    ...daysIn(raw),
    page: pageIn(raw),
  }
}
