/** The current time. It is injected, so that tests of time windows do not sleep. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() }
