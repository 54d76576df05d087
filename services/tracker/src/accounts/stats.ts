import type { Account } from './accounts.ts'

/** Counts over all torrents of a user. `seedSeconds` is the time spent seeding; `torrents` are the user's uploads. */
export type Activity = {
  readonly seeding: number
  readonly leeching: number
  readonly completed: number
  readonly seedSeconds: number
  readonly torrents: number
}

/** The store that activity is counted in. */
export type ActivityStore = {
  /** @param activeSince a peer whose last announce is older counts neither as seeding nor as leeching */
  countForUser(userId: string, activeSince: Date): Promise<Activity>
}

/** Uploaded divided by downloaded, to four decimals; null when nothing was downloaded. */
export function ratio(uploaded: number, downloaded: number): number | null {
  return downloaded === 0 ? null : Math.round((uploaded / downloaded) * 10_000) / 10_000
}

/** What a viewer may see of a user: the users themselves and staff see everything, others what the user allows. */
export function statsVisibility(user: Account, viewer: Account): 'everything' | 'totals' | 'nothing' {
  if (viewer.id === user.id || viewer.role !== 'member') return 'everything'
  return user.statsPublic ? 'totals' : 'nothing'
}
