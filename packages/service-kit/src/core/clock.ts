/** The current time, injected so that tests do not sleep. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
