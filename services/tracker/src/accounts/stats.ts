import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Account, Accounts } from './accounts.ts'

/** How a user takes part, counted over all torrents. */
export type Activity = {
  readonly seeding: number
  readonly leeching: number
  readonly completed: number
  readonly seedSeconds: number
  readonly torrents: number
}

/** Where activity is counted. */
export type ActivityStore = {
  /** @param activeSince who was seen before that no longer takes part */
  ofUser(userId: string, activeSince: Date): Promise<Activity>
}

export type Stats = ReturnType<typeof createStats>

/**
 * Statistics of users.
 *
 * @param deps a peer that did not announce for `peerTtlMs` does not count as active
 */
export function createStats(deps: { accounts: Accounts; activity: ActivityStore; clock: Clock; peerTtlMs: number }) {
  const { accounts, activity, clock, peerTtlMs } = deps
  return {
    /**
     * The statistics of a user, as far as the viewer may see them.
     *
     * @throws NOT_FOUND
     */
    async visibleTo(viewer: Account, userId: string) {
      const user = await accounts.byId(userId)
      const { id, username, uploaded, downloaded, uploadedActual, downloadedActual } = user
      const visible = statsVisibility(user, viewer)
      if (visible === 'nothing') return { id, username }
      const totals = { id, username, uploaded, downloaded, ratio: ratio(uploaded, downloaded) }
      if (visible === 'totals') return totals
      const counted = await activity.ofUser(id, new Date(clock.now() - peerTtlMs))
      return { ...totals, uploadedActual, downloadedActual, ...counted }
    },
  }
}

/** Uploaded by downloaded, to four decimals; null when nothing was downloaded. */
function ratio(uploaded: number, downloaded: number): number | null {
  return downloaded === 0 ? null : Math.round((uploaded / downloaded) * 10_000) / 10_000
}

/** What a viewer may see of a user: everything of their own and as staff, else what the user allows. */
function statsVisibility(user: Account, viewer: Account): 'everything' | 'totals' | 'nothing' {
  if (viewer.id === user.id || viewer.role !== 'member') return 'everything'
  return user.statsPublic ? 'totals' : 'nothing'
}
