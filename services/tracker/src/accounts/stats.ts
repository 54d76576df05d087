import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Account, Accounts } from './accounts.ts'

/** Counts over all torrents of a user. `torrents` are the user's uploads. */
export type Activity = {
  readonly seeding: number
  readonly leeching: number
  readonly completed: number
  readonly seedSeconds: number
  readonly torrents: number
}

export type ActivityStore = {
  /** @param activeSince peers whose last announce is older count neither as seeding nor as leeching */
  countForUser(userId: string, activeSince: Date): Promise<Activity>
}

export type Stats = ReturnType<typeof createStats>

/**
 * Statistics of users.
 *
 * @param deps peers whose last announce is older than `peerTtlMs` count neither as seeding nor as leeching
 */
export function createStats(deps: { accounts: Accounts; activity: ActivityStore; clock: Clock; peerTtlMs: number }) {
  const { accounts, activity, clock, peerTtlMs } = deps
  return {
    /** The statistics that the viewer is allowed to see. @throws ApiError NOT_FOUND */
    async visibleTo(viewer: Account, userId: string) {
      const user = await accounts.byId(userId)
      const { id, username, uploaded, downloaded, uploadedActual, downloadedActual } = user
      const visible = statsVisibility(user, viewer)
      if (visible === 'nothing') return { id, username }
      const totals = { id, username, uploaded, downloaded, ratio: ratio(uploaded, downloaded) }
      if (visible === 'totals') return totals
      const counted = await activity.countForUser(id, new Date(clock.now() - peerTtlMs))
      return { ...totals, uploadedActual, downloadedActual, ...counted }
    },
  }
}

/** Uploaded divided by downloaded, to four decimals; null if nothing was downloaded. */
export function ratio(uploaded: number, downloaded: number): number | null {
  return downloaded === 0 ? null : Math.round((uploaded / downloaded) * 10_000) / 10_000
}

/** The user and staff see everything, other members what the user allows. */
export function statsVisibility(user: Account, viewer: Account): 'everything' | 'totals' | 'nothing' {
  if (viewer.id === user.id || viewer.role !== 'member') return 'everything'
  return user.statsPublic ? 'totals' : 'nothing'
}
