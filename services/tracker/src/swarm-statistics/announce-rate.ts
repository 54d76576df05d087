import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** Announces that were carried out, and those that were refused. */
export type AnnounceTally = { readonly announces: number; readonly refused: number }

/**
 * Where the processes add up what they counted, by spans of ten seconds. All methods throw what `isUnavailable` recognises.
 */
export type AnnounceTallies = {
  add(span: number, tally: AnnounceTally): Promise<void>
  /** The sum of all processes over spans. */
  sum(first: number, count: number): Promise<AnnounceTally>
}

const SPAN_MS = 10_000
const MINUTE_MS = 60_000
const SPANS_A_MINUTE = MINUTE_MS / SPAN_MS

export type AnnounceRate = ReturnType<typeof createAnnounceRate>

/**
 * How many announces the tracker answers, all processes together. An announce adds one to a number of its process; the
 * process passes that on every few seconds.
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

    /** Passes on what was counted; nothing where nothing was. What could not be passed on waits for the next time. */
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

    /** The average a second of the last minute, but for the span that is not over. */
    async perSecond(): Promise<AnnounceTally> {
      const { announces, refused } = await tallies.sum(
        Math.floor(clock.now() / SPAN_MS) - SPANS_A_MINUTE,
        SPANS_A_MINUTE,
      )
      return { announces: perSecondOf(announces), refused: perSecondOf(refused) }
    },

    /** All of a minute. It is complete ten seconds after its end. @param start milliseconds, a whole minute */
    inMinute: (start: number): Promise<AnnounceTally> => tallies.sum(Math.floor(start / SPAN_MS), SPANS_A_MINUTE),
  }
}

/** To hundredths. */
function perSecondOf(inMinute: number): number {
  return Math.round((inMinute / 60) * 100) / 100
}
