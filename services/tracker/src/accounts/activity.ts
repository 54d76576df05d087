import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import type { Account, Accounts } from './accounts.ts'

/** Counts over all torrents of a user. `torrents` are the user's uploads. */
type Counts = {
  readonly seeding: number
  readonly leeching: number
  readonly completed: number
  readonly seedSeconds: number
  readonly torrents: number
}

/** Bytes that a user transferred on a UTC day; `actual` counts are without rates. */
type TransferDay = {
  /** `2026-01-31` */
  readonly day: string
  readonly uploaded: number
  readonly downloaded: number
  readonly uploadedActual: number
  readonly downloadedActual: number
}

/** What users did with torrents. All methods throw an error that `isUnavailable` recognises if Postgres is unavailable. */
export type ActivityStore = {
  /** @param activeSince peers whose last announce is older count neither as seeding nor as leeching */
  countForUser(userId: string, activeSince: Date): Promise<Counts>
  /** Days with transfers from `day` on, ascending. */
  transfersSince(userId: string, day: string): Promise<readonly TransferDay[]>
}

const DAY_MS = 86_400_000
export const MAX_HISTORY_DAYS = 366

export type Activity = ReturnType<typeof createActivity>

/**
 * Statistics of users and their daily transfers.
 *
 * @param deps peers whose last announce is older than `peerTtlMs` are not active
 */
export function createActivity(deps: { accounts: Accounts; store: ActivityStore; clock: Clock; peerTtlMs: number }) {
  const { accounts, store, clock } = deps
  return {
    /** The statistics that the viewer is allowed to see. @throws ApiError NOT_FOUND */
    async statistics(viewer: Account, userId: string) {
      const user = await accounts.byId(userId)
      const { uploaded, downloaded, uploadedActual, downloadedActual } = user
      const known = { id: user.id, username: user.username, role: user.role, created: user.createdAt }
      const visible = visibility(user, viewer)
      if (visible === 'nothing') return known
      const totals = { ...known, uploaded, downloaded, ratio: ratioOf(uploaded, downloaded) }
      if (visible === 'totals') return totals
      return {
        ...totals,
        uploadedActual,
        downloadedActual,
        ...(await store.countForUser(user.id, new Date(clock.now() - deps.peerTtlMs))),
      }
    },

    /**
     * The last `count` days up to today, each with the ratio at its end.
     *
     * @throws ApiError NOT_FOUND, or FORBIDDEN if the viewer is neither the user nor staff
     */
    async history(viewer: Account, userId: string, count: number) {
      const user = await accounts.byId(userId)
      if (visibility(user, viewer) !== 'everything')
        throw apiError('FORBIDDEN', 'Only the user and staff can see daily transfers.')
      const today = Math.floor(clock.now() / DAY_MS)
      const first = today - count + 1
      const byDay = new Map((await store.transfersSince(userId, dayText(first))).map((each) => [each.day, each]))
      // Only the current totals are known, so walk the days backwards from them.
      let { uploaded, downloaded } = user
      const items = []
      for (let day = today; day >= first; day -= 1) {
        const found = byDay.get(dayText(day)) ?? nothingOn(dayText(day))
        items.push({ ...found, ratio: ratioOf(uploaded, downloaded) })
        uploaded = Math.max(0, uploaded - found.uploaded)
        downloaded = Math.max(0, downloaded - found.downloaded)
      }
      return items.toReversed()
    },
  }
}

/** Uploaded divided by downloaded, to four decimals; null if nothing was downloaded. */
export function ratioOf(uploaded: number, downloaded: number): number | null {
  return downloaded === 0 ? null : Math.round((uploaded / downloaded) * 10_000) / 10_000
}

/** The user and staff see everything, other members what the user allows. */
function visibility(user: Account, viewer: Account): 'everything' | 'totals' | 'nothing' {
  if (viewer.id === user.id || viewer.role !== 'member') return 'everything'
  return user.statsPublic ? 'totals' : 'nothing'
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

function nothingOn(day: string): TransferDay {
  return { day, uploaded: 0, downloaded: 0, uploadedActual: 0, downloadedActual: 0 }
}
