import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { within } from '@vault-and-tracker/service-kit/core/concurrency'
import type { AllowedProjects } from '../access/administrator.ts'
import type { RecordedDetails } from '../secrets/details.ts'

/** A secret with an expiry, without its value. */
export type ExpiringSecret = Omit<RecordedDetails, 'expiresAt'> & {
  readonly id: string
  /** The name of its project. */
  readonly project: string
  readonly env: string
  readonly key: string
  readonly expiresAt: Date
  /** Only of a value with references. */
  readonly references?: true
}

/** How many secrets are overdue, and how many of the others expire soon. */
export type ExpiryCounts = { readonly overdue: number; readonly '7d': number; readonly '30d': number }

/** Reads the expiry of secrets. */
export type ExpiryStore = {
  /** The secrets that expire until a time, the earliest first. */
  listUntil(until: Date, projects: AllowedProjects, limit: number): Promise<readonly ExpiringSecret[]>
  /** Counts at most `max` secrets, the earliest first. */
  count(times: { now: Date; within7Days: Date; within30Days: Date }, max: number): Promise<ExpiryCounts>
}

/** The expiry of secrets, of which the vault only warns. */
export type Expiry = ReturnType<typeof createExpiry>

const MAX_LISTED = 1_000
const MAX_COUNTED = 10_000
const COUNT_EVERY_MS = 60_000
/** A scrape does not wait longer. */
const COUNT_MS = 2_000
const DAY_MS = 86_400_000

/**
 * Creates the use cases of expiring secrets.
 *
 * @param deps `onCountError` receives the error of a count
 */
export function createExpiry(deps: { store: ExpiryStore; clock: Clock; onCountError: (error: unknown) => void }) {
  const { store, clock, onCountError } = deps
  let counted: { readonly at: number; readonly counts: Promise<ExpiryCounts | undefined> } | undefined
  const inDays = (days: number) => new Date(clock.now() + days * DAY_MS)
  const count = (): Promise<ExpiryCounts | undefined> =>
    store
      .count({ now: inDays(0), within7Days: inDays(7), within30Days: inDays(30) }, MAX_COUNTED)
      .catch((error: unknown) => {
        onCountError(error)
        return undefined
      })

  return {
    /** Returns up to 1,000 secrets that are overdue or expire within some days, the earliest first. */
    within: async (days: number, projects: AllowedProjects) => {
      const found = await store.listUntil(inDays(days), projects, MAX_LISTED + 1)
      return { items: found.slice(0, MAX_LISTED), isComplete: found.length <= MAX_LISTED }
    },

    /**
     * Counts up to 10,000 secrets of all projects, at most once a minute. Returns undefined if that fails or takes longer
     * than two seconds.
     */
    recentCounts: (): Promise<ExpiryCounts | undefined> => {
      if (counted === undefined || clock.now() - counted.at >= COUNT_EVERY_MS)
        counted = { at: clock.now(), counts: count() }
      return within(COUNT_MS, counted.counts, undefined)
    },
  }
}
