import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** A torrent that a user completed and has not seeded for as long as the site requires. */
export type SeedingDuty = {
  readonly torrent: { readonly id: string; readonly name: string; readonly size: number }
  readonly seeding: boolean
  readonly completed: Date
  readonly lastSeen: Date
  readonly seedSeconds: number
  /** Bytes, without rates. */
  readonly uploaded: number
  readonly downloaded: number
}

export type SeedingDutyStore = {
  /**
   * Torrents that the user completed, seeded for less than the required time, and uploaded less than they downloaded:
   * unseeded torrents first, then the most recently completed.
   *
   * @param activeSince a user whose last announce is older is not seeding
   * @throws an error that `isUnavailable` recognises if Postgres is unavailable
   */
  ofUser(query: {
    userId: string
    requiredSeconds: number
    activeSince: Date
    limit: number
  }): Promise<readonly SeedingDuty[]>
}

const MAX_LISTED = 100

export type SeedingDuties = ReturnType<typeof createSeedingDuties>

/**
 * Lists the torrents that users still have to seed. Those they are not seeding are hit-and-runs.
 *
 * @param deps `requiredSeconds` is 0 if the site requires nothing
 */
export function createSeedingDuties(deps: {
  store: SeedingDutyStore
  requiredSeconds: number
  clock: Clock
  peerTtlMs: number
}) {
  const { store, requiredSeconds, clock, peerTtlMs } = deps
  return {
    /** At most 100. @throws an error that `isUnavailable` recognises if Postgres is unavailable */
    async of(userId: string) {
      const activeSince = new Date(clock.now() - peerTtlMs)
      const items =
        requiredSeconds === 0 ? [] : await store.ofUser({ userId, requiredSeconds, activeSince, limit: MAX_LISTED })
      return { requiredSeconds, items }
    },
  }
}
