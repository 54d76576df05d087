import { apiError } from '../errors.ts'

/**
 * Uploads that are held in memory at once: of one holder, and of all together. Beyond `shared`, which is left out where each
 * holder has one only, a slot is given to holders without any: no few of them can take all.
 */
export type UploadLimits = { readonly perHolder: number; readonly shared?: number; readonly total: number }

/** What an upload has to have while its bytes are in memory. */
export type UploadSlots = {
  /**
   * Takes a slot.
   *
   * @param holder whose upload it is
   * @returns gives the slot back; to be called once, when nothing holds the bytes any more
   * @throws ApiError RATE_LIMITED when the holder has as many as they may have now, UNAVAILABLE when there is none
   */
  take(holder: string): () => void
  /** How many are taken. */
  taken(): number
}

/** Creates the slots. Each holder has a bound of their own, so one whose uploads stall takes none from others. */
export function createUploadSlots({ perHolder, shared = 0, total }: UploadLimits): UploadSlots {
  const takenBy = new Map<string, number>()
  let taken = 0

  function giveBack(holder: string): void {
    taken -= 1
    const others = (takenBy.get(holder) ?? 1) - 1
    if (others === 0) takenBy.delete(holder)
    else takenBy.set(holder, others)
  }

  return {
    take(holder) {
      const own = takenBy.get(holder) ?? 0
      if (own >= perHolder || (own > 0 && taken >= shared))
        throw apiError('RATE_LIMITED', 'You cannot send more files at once. Wait until one of them has been read.')
      if (taken >= total) throw apiError('UNAVAILABLE', 'Too many uploads at once. Try again in a moment.')
      taken += 1
      takenBy.set(holder, own + 1)
      let isGivenBack = false
      return () => {
        if (isGivenBack) return
        isGivenBack = true
        giveBack(holder)
      }
    },
    taken: () => taken,
  }
}
