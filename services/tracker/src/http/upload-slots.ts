import { apiError } from '../errors.ts'

/**
 * Concurrent uploads in memory: `perHolder` and `total`. Beyond `shared`, only holders without a slot get one, so that a
 * few holders cannot take them all.
 */
export type UploadLimits = { readonly perHolder: number; readonly shared?: number; readonly total: number }

/** Slots, which uploads need while their bytes are in memory. */
export type UploadSlots = {
  /**
   * Takes a slot.
   *
   * @returns a function that releases the slot; call it once the bytes are no longer in use
   * @throws ApiError RATE_LIMITED if the holder has too many slots, UNAVAILABLE if none is left
   */
  take(holder: string): () => void
  /** The number of taken slots. */
  taken(): number
}

/** Creates the slots. The bound per holder keeps stalled uploads from taking slots from others. */
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
        throw apiError('RATE_LIMITED', 'You are sending too many files at once. Wait for one of them to finish.')
      if (taken >= total) throw apiError('UNAVAILABLE', 'Too many concurrent uploads. Try again in a moment.')
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
