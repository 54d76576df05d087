/**
 * Counts the fetches that are being verified. A batch waits a moment for them instead of starting without them.
 */
export type PendingFetches = {
  count(): number
  /** Counts a fetch as pending until its verification has ended, however it ends. */
  during<T>(verification: () => Promise<T>): Promise<T>
}

/** Creates a counter at 0. */
export function createPendingFetches(): PendingFetches {
  let pending = 0
  return {
    count: () => pending,
    during: async (verification) => {
      pending++
      try {
        return await verification()
      } finally {
        pending--
      }
    },
  }
}
