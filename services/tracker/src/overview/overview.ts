/** Counts of the catalogue and the accounts. */
export type SiteCounts = {
  /** Torrents that wait for a moderator. */
  readonly pending: number
  /** Torrents that are listed. */
  readonly torrents: number
  readonly members: number
  /** Members who announced or signed in within a day. */
  readonly activeMembers: number
  /** Members who are blocked from the Torznab API. */
  readonly blockedMembers: number
}

/** Where they are counted. */
export type OverviewStore = {
  /** @throws what `isUnavailable` recognises when Postgres is unavailable */
  counts(activeSince: Date): Promise<SiteCounts>
}

type Swarms = {
  readonly swarms: number
  readonly seeders: number
  readonly leechers: number
  /** A second. */
  readonly announces: number
  readonly refused: number
}

/** What is cheap enough to be read twice a minute. */
export type Figures = SiteCounts & Swarms

const DAY_MS = 86_400_000

export type Overview = ReturnType<typeof createOverview>

/** What staff look at first: one number of each part of the site. */
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
    /** Counts of the catalogue, the accounts and the swarms. @throws as `read` does */
    figures,

    /** @throws what `isUnavailable` recognises when Postgres or Redis is unavailable */
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
