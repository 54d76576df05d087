import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** A torrent that a user completed and has seeded for less than the site asks. */
export type SeedingDuty = {
  readonly torrent: { readonly id: string; readonly name: string; readonly size: number }
  readonly seeding: boolean
  readonly completed: Date
  readonly lastSeen: Date
  readonly seedSeconds: number
  /** Bytes, before multipliers. */
  readonly uploaded: number
  readonly downloaded: number
}

/** Where they are found. */
export type SeedingDutyStore = {
  /**
   * Torrents that were completed, seeded for less than some time, and uploaded less of than downloaded: those that are
   * not being seeded first, then the latest first.
   *
   * @param activeSince whoever announced last before does not seed
   * @throws what `isUnavailable` recognises
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
 * What users still have to seed. Those among it that they do not seed are hit-and-runs.
 *
 * @param deps `requiredSeconds` 0 where the site asks for nothing
 */
export function createSeedingDuties(deps: {
  store: SeedingDutyStore
  requiredSeconds: number
  clock: Clock
  peerTtlMs: number
}) {
  const { store, requiredSeconds, clock, peerTtlMs } = deps
  return {
    /** At most a hundred. @throws what `isUnavailable` recognises when Postgres is unavailable */
    async of(userId: string) {
      const activeSince = new Date(clock.now() - peerTtlMs)
      const items =
        requiredSeconds === 0 ? [] : await store.ofUser({ userId, requiredSeconds, activeSince, limit: MAX_LISTED })
      return { requiredSeconds, items }
    },
  }
}
