/** A clock that a test moves: by default as fast as the real one. */
export type TestClock = {
  /** Milliseconds since the epoch. */
  now: () => number
  advance: (ms: number) => void
  /**
   * From here on the clock moves by `advance` only.
   *
   * @param atMs the time it shows, by default its present one
   * @returns a function that sets it to the real time again
   */
  hold: (atMs?: number) => () => void
}

export function createTestClock(): TestClock {
  let offset = 0
  let held: number | undefined
  const now = (): number => (held ?? Date.now()) + offset
  return {
    now,
    advance: (ms) => void (offset += ms),
    hold: (atMs = now()) => {
      held = atMs
      offset = 0
      return () => {
        held = undefined
        offset = 0
      }
    },
  }
}
