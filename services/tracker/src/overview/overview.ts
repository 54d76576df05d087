/** Counts of the catalogue and the accounts. */
export type SiteCounts = {
  /** Torrents waiting for a moderator. */
  readonly pending: number
  /** Listed torrents. */
  readonly torrents: number
  readonly members: number
  /** Members who announced or signed in within a day. */
  readonly activeMembers: number
  /** Members blocked from the Torznab API. */
  readonly blockedMembers: number
}

export type OverviewStore = {
  /** @throws an error that `isUnavailable` recognises if Postgres is unavailable */
  counts(activeSince: Date): Promise<SiteCounts>
}

type Swarms = {
  readonly swarms: number
  readonly seeders: number
  readonly leechers: number
  /** Per second. */
  readonly announces: number
  readonly refused: number
}

/** Figures that are cheap enough to read twice a minute. */
export type Figures = SiteCounts & Swarms

const DAY_MS = 86_400_000

export type Overview = ReturnType<typeof createOverview>

/** Key figures of the site, for staff. */
export function createOverview(deps: {
  store: OverviewStore
  swarms: () => Promise<Swarms>
  blockedAddresses: () => Promise<number>
  torznabLastDay: () => Promise<{ readonly requests: number; readonly errors: number }>
  clock: { now(): number }
}) {
  const figures = async (): Promise<Figures> => {
    const activeSince = new Date(deps.clock.now() - DAY_MS)
    const [counts, swarms] = await Promise.all([deps.store.counts(activeSince), deps.swarms()])
    return { ...counts, ...swarms }
  }

  return {
    /** Counts of the catalogue, accounts and swarms. @throws as `read` does */
    figures,

    /** @throws an error that `isUnavailable` recognises if Postgres or Redis is unavailable */
    async read() {
      const [counts, blockedAddresses, torznab] = await Promise.all([
        figures(),
        deps.blockedAddresses(),
        deps.torznabLastDay(),
      ])
      return { ...counts, blockedAddresses, torznab }
    },
  }
}
