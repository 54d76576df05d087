import type { Account } from './accounts.ts'

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

/** Uploaded by downloaded, to four decimals; null when nothing was downloaded. */
export function ratio(uploaded: number, downloaded: number): number | null {
  return downloaded === 0 ? null : Math.round((uploaded / downloaded) * 10_000) / 10_000
}

/** What a viewer may see of a user: everything of himself and as staff, else what the user allows. */
export function statsVisibility(user: Account, viewer: Account): 'everything' | 'totals' | 'nothing' {
  if (viewer.id === user.id || viewer.role !== 'member') return 'everything'
  return user.statsPublic ? 'totals' : 'nothing'
}
