/** A clock that a test can advance and stop. */
export type TestClock = {
  /** Milliseconds since the epoch. */
  now: () => number
  advance: (ms: number) => void
  /**
   * Stops the clock, so that only `advance` moves it.
   *
   * @param atMs the time it shows, by default the current one
   * @returns a function that returns it to the real time
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
