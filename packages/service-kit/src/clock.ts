/** The time, injected wherever a rule depends on it, so that windows of minutes are tested without sleeping. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
