import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** Counts of successful and refused announces. */
export type AnnounceTally = { readonly announces: number; readonly refused: number }

/** The shared counts by spans of ten seconds. All methods throw an error that `isUnavailable` recognises. */
export type AnnounceTallies = {
  add(span: number, tally: AnnounceTally): Promise<void>
  /** The sum over spans and all processes. */
  sum(first: number, count: number): Promise<AnnounceTally>
}

const SPAN_MS = 10_000
const MINUTE_MS = 60_000
const SPANS_A_MINUTE = MINUTE_MS / SPAN_MS

export type AnnounceRate = ReturnType<typeof createAnnounceRate>

/**
 * The announce rate of all processes. Each process counts its own announces, and adds them to the shared counts every few
 * seconds.
 */
export function createAnnounceRate({ tallies, clock }: { tallies: AnnounceTallies; clock: Clock }) {
  let announces = 0
  let refused = 0

  return {
    countAnnounce: (): void => {
      announces += 1
    },
    countRefused: (): void => {
      refused += 1
    },

    /** Adds the counted announces to the shared counts. If that fails, they wait for the next flush. */
    async flush(): Promise<void> {
      const tally = { announces, refused }
      if (announces + refused === 0) return
      announces = 0
      refused = 0
      try {
        await tallies.add(Math.floor(clock.now() / SPAN_MS), tally)
      } catch (error) {
        announces += tally.announces
        refused += tally.refused
        throw error
      }
    },

    /** The average per second over the last minute, without the current span. */
    async perSecond(): Promise<AnnounceTally> {
      const { announces, refused } = await tallies.sum(
        Math.floor(clock.now() / SPAN_MS) - SPANS_A_MINUTE,
        SPANS_A_MINUTE,
      )
      return { announces: perSecondOf(announces), refused: perSecondOf(refused) }
    },

    /** The counts of a minute, complete ten seconds after its end. @param start milliseconds, a whole minute */
    inMinute: (start: number): Promise<AnnounceTally> => tallies.sum(Math.floor(start / SPAN_MS), SPANS_A_MINUTE),
  }
}

/** To hundredths. */
function perSecondOf(inMinute: number): number {
  return Math.round((inMinute / 60) * 100) / 100
}
