import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import type { Account, Accounts } from './accounts.ts'
import { ratio, statsVisibility } from './stats.ts'

/** Bytes that a user transferred on a UTC day; `actual` counts are without rates. */
export type TransferDay = {
  /** `2026-01-31` */
  readonly day: string
  readonly uploaded: number
  readonly downloaded: number
  readonly uploadedActual: number
  readonly downloadedActual: number
}

export type TransferDays = {
  /** Days with transfers from `day` on, ascending. @throws an error that `isUnavailable` recognises */
  since(userId: string, day: string): Promise<readonly TransferDay[]>
}

const DAY_MS = 86_400_000
export const MAX_HISTORY_DAYS = 366

export type TransferHistory = ReturnType<typeof createTransferHistory>

/** Daily transfers of users. */
export function createTransferHistory(deps: { accounts: Accounts; days: TransferDays; clock: Clock }) {
  const { accounts, days, clock } = deps
  return {
    /**
     * The last `count` days up to today, each with the ratio at its end.
     *
     * @throws ApiError NOT_FOUND, or FORBIDDEN if the viewer is neither the user nor staff
     */
    async visibleTo(viewer: Account, userId: string, count: number) {
      const user = await accounts.byId(userId)
      if (statsVisibility(user, viewer) !== 'everything')
        throw apiError('FORBIDDEN', 'Only the user and staff can see daily transfers.')
      const today = Math.floor(clock.now() / DAY_MS)
      const first = today - count + 1
      const byDay = new Map((await days.since(userId, dayText(first))).map((each) => [each.day, each]))
      // Only the current totals are known, so walk the days backwards from them.
      let { uploaded, downloaded } = user
      const items = []
      for (let day = today; day >= first; day -= 1) {
        const found = byDay.get(dayText(day)) ?? nothingOn(dayText(day))
        items.push({ ...found, ratio: ratio(uploaded, downloaded) })
        uploaded = Math.max(0, uploaded - found.uploaded)
        downloaded = Math.max(0, downloaded - found.downloaded)
      }
      return items.toReversed()
    },
  }
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

function nothingOn(day: string): TransferDay {
  return { day, uploaded: 0, downloaded: 0, uploadedActual: 0, downloadedActual: 0 }
}
